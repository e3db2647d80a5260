#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HTTP requests that Go programs serve: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace HTTP requests that Go programs serve'
recipe_args='[BINARY]'
recipe_synopsis='[-x] [-m MS] [-A] [-i INTERVAL]'
recipe_filters=xmAi
recipe_failed_are='requests answered with a status of 400 or more'
recipe_counted='equal requests (method, status, path)'
recipe_examples="    gohttpd -p 181                # trace one process
    gohttpd -x -T ./app           # failed ones, with the time, of all ./app
    gohttpd -A -i 10 -p 181       # counts of equal requests every 10 seconds
    gohttpd -- ./app arg          # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

recipe_parse "$@"

# It is called for each request, and calls the handler, whatever the protocol.
serve='net/http.serverHandler.ServeHTTP'
# of HTTP/2: up to Go 1.26, since then, and where a program configures golang.org/x/net itself
to126='net/http.(*http2responseWriter).WriteHeader'
since='net/http.http2ResponseWriter.WriteHeader'
other='golang.org/x/net/http2.(*responseWriter).WriteHeader'
recipe_need "$serve" "serves no HTTP requests by net/http" "$to126" "$since" "$other"

print() # PREDICATE STATUS-VERB BYTES-VERB [, STATUS, BYTES]
{
	if [ -n "$recipe_count" ]; then
		recipe_probe "r:$serve ($1$recipe_slow) \"%-7s $2 %s\", goarg3.Method${4:+, $4}, goarg3.URL.Path"
	else
		recipe_probe "r:$serve ($1$recipe_slow) \"%-7d %-7d %{method:%-7s} $2 %4d.%03d $3 %{uri:%s}\", \$pid, \$goid, goarg3.Method${4:+, $4}, \$latency / 1000000, \$latency / 1000 % 1000${5:+, $5}, goarg3.RequestURI"
	fi
}

others=
# Of requests whose ResponseWriter is a TYPE. Where nothing was written, the server sends 200 later;
# unless the handler has taken the connection for itself: then it alone knows what is sent.
answers() # TYPE STATE BYTES [HIJACKED]
{
	state="after(goarg2.($1)$2" status="after(goarg2.($1)$2.status)"
	answered="$status + 200 * ($status == 0${4:+ && !after(goarg2.($1)$4)})"
	print "goarg2.($1) != nil${recipe_failed:+ && $status >= 400}" '%{status:%-6d}' '%{bytes:%8d}' "$answered" "$state.$3)"
	others="$others${others:+ && }goarg2.($1) == nil"
}

answers '*net/http.response' '' written .conn.hijackedv
if recipe_has "$to126"; then
	answers '*net/http.http2responseWriter' .rws wroteBytes
elif recipe_has "$since"; then
	answers net/http.http2ResponseWriter .rws wroteBytes
fi
if recipe_has "$other"; then
	answers '*golang.org/x/net/http2.responseWriter' .rws wroteBytes
fi
# nothing is left out: where who answers is not known, the status is "?"
[ -n "$recipe_failed" ] || print "$others" '?     ' '       ?'
recipe_trace 'PID     GOID    METHOD  STATUS  LAT(ms)    BYTES URI' 'METHOD  STATUS PATH'
