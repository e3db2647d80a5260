#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Slow calls with their arguments: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace calls of Go functions that are slower than a threshold, with arguments'
recipe_args='[MS] [BINARY:]PATTERN...'
recipe_synopsis='[-m MS | -u US] [-a EXPR]...'
recipe_letters=m:u:a:
recipe_fips=yes
recipe_options="  -m MS, --min-ms MS    threshold in milliseconds (default 1)
  -u US, --min-us US    threshold in microseconds; both also as 1.5s, 10ms, 200us
  -a EXPR, --arg EXPR   print EXPR instead of all arguments; may be repeated"
recipe_examples="    gofuncslower './app:main.*'   # of package main, a millisecond or more
    gofuncslower 10 -p 181 'main.(*Store).*'
                                  # ten milliseconds, methods of one type
    gofuncslower -m 200us -U -p 181 main.get
                                  # 200 microseconds, with stacks
    gofuncslower -p 181 -a key -a 'len(value)' 'main.(*Store).Put'
                                  # these arguments only
    gofuncslower 'main.*' -- ./app
                                  # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

threshold=1000000 values='' verbs=''
take_option()
{
	if [ "$1" = a ]; then
		values="$values, $2" verbs="$verbs %v"
		return
	fi
	case $1 in
	m) recipe_time m "$2" 000000 ;;
	u) recipe_time u "$2" 000 ;;
	esac
	threshold=$time
}
recipe_long()
{
	case $1 in
	min-ms) echo m ;;
	min-us) echo u ;;
	arg) echo a ;;
	esac
}
recipe_check()
{
	number=
	case ${1-} in
	*:*) ;;
	[0-9]*) # as bcc's slower tools take it: no function's name begins with a digit
		recipe_time m "$1" 000000
		threshold=$time recipe_targets='' number=$1
		shift
		for word; do
			recipe_targets="$recipe_targets$(recipe_quote "$word")"
		done
		;;
	esac
	[ $# -gt 0 ] || {
		[ -n "$recipe_pid" ] || ! [ -d "/proc/$number/task" ] ||
			recipe_fail 2 'no PATTERN to trace' "$recipe_self -p $number 'main.*' traces process $number"
		recipe_misused 'no PATTERN to trace'
	}
}
recipe_parse "$@"

args='%{args:%v}'
[ -z "$verbs" ] || args="%{args[]:${verbs# }}"
recipe_each 'r:' " (\$latency >= $threshold) \"%-7d %-7d %5d.%03d %-16s $args\", \$pid, \$goid, \$latency / 1000000, \$latency / 1000 % 1000, \$func${values:-, goargs}"
recipe_trace 'PID     GOID      LAT(ms) FUNC             ARGS'
