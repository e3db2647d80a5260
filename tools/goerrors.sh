#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errors by function: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Count the errors that Go functions return, by function and message'
recipe_args='[[BINARY:]PATTERN...]'
recipe_synopsis='[-i INTERVAL] [-n N] [-N] [-e]'
recipe_letters=i:n:Ne
recipe_fips=yes
recipe_options="  -i INTERVAL, --interval INTERVAL
                        print what was counted every INTERVAL seconds
  -n N, --top N         print the N most frequent errors
  -N, --numbers         count errors that differ by numbers apart
  -e, --each            print each at once instead of counting"
recipe_examples="    goerrors -n 10 -p 181         # the most frequent errors of all functions
    goerrors './app:main.*'       # errors of package main, counted, at the end
    goerrors -i 5 -p 181 'main.(*Store).*'
                                  # of one type's methods, every 5 seconds
    goerrors -e -T -p 181 'main.*'
                                  # each at once, with the time
    goerrors 'main.*' -- ./app    # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

count='-A --by-func --origins ' fold='--fold-numbers '
take_option()
{
	case $1 in
	i) recipe_passed="$recipe_passed-i $(recipe_quote "$2")" ;;
	n) recipe_passed="$recipe_passed--top $(recipe_quote "$2")" ;;
	N) fold= ;;
	e) count= ;;
	esac
}
recipe_long()
{
	case $1 in
	each) echo e ;;
	top) echo n ;;
	numbers) echo N ;;
	esac
}
recipe_check()
{
	[ $# = 0 ] || return 0
	[ -n "$recipe_pid$recipe_command$recipe_named$recipe_all" ] || recipe_misused "no PATTERN, PID or COMMAND to trace"
	recipe_targets="'*' "
}
recipe_parse "$@"

# $err is the last result, where that is an error; functions without one are left out
[ -z "$recipe_json" ] || count=
[ -z "$count" ] || count=$count$fold
recipe_passed="$recipe_passed$count"
if [ -n "$count" ]; then
	recipe_each 'r:' ' ($err != nil) "%s: %v", $func, $err'
	recipe_trace 'FUNC: ERROR'
else
	recipe_each 'r:' ' ($err != nil) "%-7d %-7d %4d.%03d %s: %{error:%v}", $pid, $goid, $latency / 1000000, $latency / 1000 % 1000, $func, $err'
	recipe_trace 'PID     GOID     LAT(ms) FUNC: ERROR'
fi
