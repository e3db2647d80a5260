#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names that Go programs look up: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace names that Go programs look up by package net'
recipe_args='[BINARY]'
recipe_synopsis='[-x] [-m MS] [-A] [-i INTERVAL]'
recipe_filters=xmAi
recipe_counted='equal names and errors'
recipe_examples="    godnssnoop -p 181             # trace one process
    godnssnoop -x -T ./app        # failed ones, with the time, of all ./app
    godnssnoop -A -i 10 -p 181    # counts of equal names every 10 seconds
    godnssnoop -- ./app arg       # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

recipe_parse "$@"

# Where the resolver begins, of cgo or of Go: what was an address from the start does not come here, and
# what several goroutines ask for at once comes here once. Since Go 1.19 it is goLookupSRV and the like
# that are functions; lookupSRV is inlined.
ip='net.(*Resolver).lookupIP'
set -- lookupHost lookupCNAME lookupAddr
for kind in SRV MX NS TXT; do
	set -- "$@" "lookup$kind" "goLookup$kind"
done
for door; do
	shift
	set -- "$@" "net.(*Resolver).$door"
done
recipe_need "$ip" 'looks up no names by package net' "$@"

each() # KIND VALUES NAME-VERBS NAMES RESULTS ERROR [PREDICATE]
{
	if [ -n "$recipe_count" ]; then
		[ -n "$recipe_failed" ] || recipe_probe "r:$door ($6 == nil${7-}$recipe_slow) \"$1 $3\"${2:+, $2}, $4"
		recipe_probe "r:$door ($6 != nil${7-}$recipe_slow) \"$1 $3: %v\"${2:+, $2}, $4, $6"
		return
	fi
	columns="%-7d %-7d $1 %4d.%03d" values="\$pid, \$goid${2:+, $2}, \$latency / 1000000, \$latency / 1000 % 1000"
	[ -n "$recipe_failed" ] || recipe_probe "r:$door ($6 == nil${7-}$recipe_slow) \"$columns %{results:%4d} %{name:$3}\", $values, $5, $4"
	recipe_probe "r:$door ($6 != nil${7-}$recipe_slow) \"$columns    - %{name:$3}: %{error:%v}\", $values, $4, $6"
}

plain() { each "$1" '' %s goarg3 "$2" goret2; } # KIND RESULTS

door=$ip
each '%{kind:%-5s}' goarg3 %s goarg4 'len(goret1)' goret2
for door; do
	recipe_has "$door" || continue
	case $door in
	*.lookup[A-Z][A-Z]*) recipe_has "net.(*Resolver).goL${door##*.l}" && continue ;;
	esac
	case $door in
	*.lookupHost) plain '%{kind:host} ' 'len(goret1)' ;;
	*.lookupCNAME) plain '%{kind:cname}' 1 ;;
	*.lookupAddr) plain '%{kind:addr} ' 'len(goret1)' ;;
	*MX) plain '%{kind:mx}   ' 'len(goret1)' ;;
	*NS) plain '%{kind:ns}   ' 'len(goret1)' ;;
	*TXT) plain '%{kind:txt}  ' 'len(goret1)' ;;
	*SRV)
		each '%{kind:srv}  ' '' _%s._%s.%s 'goarg3, goarg4, goarg5' 'len(goret2)' goret3 \
			' && (len(goarg3) != 0 || len(goarg4) != 0)'
		each '%{kind:srv}  ' '' %s goarg5 'len(goret2)' goret3 ' && len(goarg3) == 0 && len(goarg4) == 0'
		;;
	esac
done
recipe_trace 'PID     GOID    KIND   LAT(ms)    N NAME' 'KIND  NAME'
