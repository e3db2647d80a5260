#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who creates goroutines: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Count go statements by the function that they start and by stack'
recipe_args='[BINARY]'
recipe_synopsis='[-i INTERVAL] [-e]'
recipe_letters=i:e
recipe_pprof=yes
recipe_options="  -i INTERVAL, --interval INTERVAL
                        print what was counted every INTERVAL seconds
  -e, --each            print each at once instead of counting"
recipe_examples="    gocreators -p 181             # what creates goroutines, and how many
    gocreators -i 5 -p 181        # every 5 seconds
    gocreators -e -T -p 181       # each at once, with the time
    gocreators --pprof out.pb.gz -d 10 -p 181   # for go tool pprof
    gocreators -- ./app arg       # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

count='-A '
take_option()
{
	case $1 in
	i) recipe_passed="$recipe_passed-i $(recipe_quote "$2")" ;;
	e) count= ;;
	esac
}
recipe_long() { [ "$1" = each ] && echo e; }
recipe_parse "$@"

recipe_need runtime.newproc "creates no goroutines"
case $found in
# up to Go 1.17 the size of the arguments comes first; nothing is known of stripped ones before that
*'"size":4'* | *'"args":null'*) signature='(size int32, fn func())' ;;
*) signature='(fn func())' ;;
esac
[ -z "$recipe_json" ] || count=
if [ -n "$count" ]; then
	recipe_probe "runtime.newproc$signature \"%{starts:%v}\", fn"
else
	recipe_probe "runtime.newproc$signature \"%-7d %-7d %{starts:%v}\", \$pid, \$goid, fn"
fi
recipe_passed="$recipe_passed$count-U "
if [ -n "$count" ]; then
	recipe_trace 'NEW GOROUTINE'
else
	recipe_trace 'PID     GOID    NEW GOROUTINE'
fi
