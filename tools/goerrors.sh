#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errors by function: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Count the errors that Go functions return, by function and message'
recipe_args='[BINARY:]PATTERN...'
recipe_synopsis='[-i INTERVAL] [-e]'
recipe_letters=i:e
recipe_fips=yes
recipe_options="  -i INTERVAL, --interval INTERVAL
                        print what was counted every INTERVAL seconds
  -e, --each            print each at once instead of counting"
recipe_examples="    goerrors './app:main.*'       # errors of package main, counted, at the end
    goerrors -i 5 -p 181 'main.(*Store).*'
                                  # of one type's methods, every 5 seconds
    goerrors -e -T -p 181 'main.*'
                                  # each at once, with the time
    goerrors 'main.*' -- ./app    # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

count='-A --by-func '
take_option()
{
	case $1 in
	i) recipe_passed="$recipe_passed-i $(recipe_quote "$2")" ;;
	e) count= ;;
	esac
}
recipe_long() { [ "$1" = each ] && echo e; }
recipe_check() { [ $# -gt 0 ] || recipe_misused "no PATTERN to trace"; }
recipe_parse "$@"

# $err is the last result, where that is an error; functions without one are left out
[ -z "$recipe_json" ] || count=
recipe_passed="$recipe_passed$count"
if [ -n "$count" ]; then
	recipe_each 'r:' ' ($err != nil) "%s: %v", $func, $err'
	recipe_trace 'FUNC: ERROR'
else
	recipe_each 'r:' ' ($err != nil) "%-7d %-7d %4d.%03d %s: %{error:%v}", $pid, $goid, $latency / 1000000, $latency / 1000 % 1000, $func, $err'
	recipe_trace 'PID     GOID     LAT(ms) FUNC: ERROR'
fi
