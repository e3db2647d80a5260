#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Outgoing HTTP requests of Go programs: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace HTTP requests that Go programs make'
recipe_args='[BINARY]'
recipe_synopsis='[-x]'
recipe_filters=x
recipe_failed_are='requests without a response, or with a status of 400 or more'
recipe_examples="    gohttpsnoop -p 181            # trace one process
    gohttpsnoop -x -T ./app       # failed ones, with the time, of all ./app
    gohttpsnoop -- ./app arg      # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

recipe_parse "$@"

# RoundTrip, which http.Client calls for each request and each redirection, is a wrapper up to it
do='net/http.(*Transport).roundTrip'
recipe_need "$do" "makes no HTTP requests by net/http"
who='$pid, $goid, goarg2.Method'
took='$latency / 1000000, $latency / 1000 % 1000'
url='goarg2.URL.Scheme, goarg2.URL.Host, goarg2.URL.Path'
for query in '' ', goarg2.URL.RawQuery'; do
	if [ -n "$query" ]; then
		has='len(goarg2.URL.RawQuery) > 0' and='?%s'
	else
		has='len(goarg2.URL.RawQuery) == 0' and=
	fi
	recipe_probe "r:$do (goret2 == nil && $has${recipe_failed:+ && goret1.StatusCode >= 400}) \"%-7d %-7d %{method:%-7s} %{status:%-6d} %4d.%03d %{url:%s://%s%s$and}\", $who, goret1.StatusCode, $took, $url$query"
	recipe_probe "r:$do (goret2 != nil && $has) \"%-7d %-7d %{method:%-7s} -      %4d.%03d %{url:%s://%s%s$and}: %{error:%v}\", $who, $took, $url$query, goret2"
done
recipe_trace 'PID     GOID    METHOD  STATUS  LAT(ms) URL'
