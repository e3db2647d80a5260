#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Panics, recovered from or fatal: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace panics that Go programs recover from, or end by, with stacks'
recipe_args='[BINARY]'
recipe_synopsis='[-i INTERVAL] [-A]'
recipe_letters=i:A
recipe_options="  -A, --aggregate       count equal panics, and print them at the end
  -i INTERVAL, --interval INTERVAL
                        with -A, print what was counted every INTERVAL seconds"
recipe_examples="    gopanics -p 181               # each at once
    gopanics -A -p 181            # count equal values and stacks
    gopanics -- ./app arg         # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

count=
take_option()
{
	case $1 in
	i) recipe_passed="$recipe_passed-i $(recipe_quote "$2")" ;;
	A) count='-A ' ;;
	esac
}
recipe_parse "$@"

# a deferred function calls it while what panicked is still on the stack
recipe_need runtime.gorecover "recovers from no panics"
case $found in
*'"args":[]'*) signature='()' record='arg interface{}' ;; # since Go 1.26
*) signature='(argp uintptr)' record='argp uintptr; arg interface{}' ;;
esac
# gopanic calls it when nobody has recovered, with the value that it is about to print: of an error,
# or what has a method String, already as text. gccgo has no such function.
fatal="runtime.fatalpanic(msgs *struct{$record})"
recipe_gofuncs runtime.fatalpanic >/dev/null || fatal=
[ -z "$recipe_json" ] || count=
probe="r:runtime.gorecover$signature (value interface{}) (value != nil)"
recipe_passed="$recipe_passed$count-U --no-runtime "
if [ -n "$count" ]; then
	recipe_probe "$probe \"%{value:%+v}\", value"
	[ -z "$fatal" ] || recipe_probe "$fatal \"fatal: %{value:%+v}\", msgs.arg"
	recipe_trace 'PANIC'
else
	recipe_probe "$probe \"%-7d %-7d %{value:%+v}\", \$pid, \$goid, value"
	[ -z "$fatal" ] || recipe_probe "$fatal \"%-7d %-7d fatal: %{value:%+v}\", \$pid, \$goid, msgs.arg"
	recipe_trace 'PID     GOID    PANIC'
fi
