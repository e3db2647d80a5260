#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Connections that Go programs dial: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace connections that Go programs dial'
recipe_args='[BINARY]'
recipe_synopsis='[-x]'
recipe_filters=x
recipe_examples="    godialsnoop -p 181            # trace one process
    godialsnoop -x -U ./app       # failed ones, with stacks, of all ./app
    godialsnoop -- ./app arg      # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

recipe_parse "$@"

# net.Dial, net.DialTimeout and Dialer.Dial are wrappers of it
dial='net.(*Dialer).DialContext'
recipe_need "$dial" "dials no connections by package net"
columns='%-7d %-7d %{network:%-7s} %4d.%03d %{address:%s}'
values='$pid, $goid, goarg3, $latency / 1000000, $latency / 1000 % 1000, goarg4'
[ -n "$recipe_failed" ] || recipe_probe "r:$dial (goret2 == nil) \"$columns\", $values"
recipe_probe "r:$dial (goret2 != nil) \"$columns: %{error:%v}\", $values, goret2"
recipe_trace 'PID     GOID    NETWORK  LAT(ms) ADDRESS'
