#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gRPC calls that Go programs serve and make: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace gRPC calls that Go programs serve and make'
recipe_args='[BINARY]'
recipe_synopsis='[-s] [-c] [-x] [-m MS] [-A] [-i INTERVAL]'
recipe_letters=sc
recipe_filters=xmAi
recipe_options="  -s, --server          only calls that are served
  -c, --client          only calls that are made"
recipe_counted='equal methods and errors'
recipe_examples="    gogrpcsnoop -p 181            # trace one process
    gogrpcsnoop -sx -T ./app      # what ./app answers with an error, and when
    gogrpcsnoop -A -i 10 -p 181   # counts of equal methods every 10 seconds
    gogrpcsnoop -- ./app arg      # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

sides=''
take_option()
{
	case $1 in
	s | c) sides=$sides$1 ;;
	esac
}
recipe_long()
{
	case $1 in
	server) echo s ;;
	client) echo c ;;
	esac
}
recipe_parse "$@"

# A server calls one of two functions with each call once its method is known; clients' code calls Invoke,
# or NewStream for streams, whatever interceptors there are.
grpc=google.golang.org/grpc
transport=$grpc/internal/transport
unary="$grpc.(*Server).processUnaryRPC" streaming="$grpc.(*Server).processStreamingRPC"
invoke="$grpc.(*ClientConn).Invoke" stream="$grpc.(*ClientConn).NewStream"
# since gRPC 1.69 the streams of servers have a type of their own
own="$transport.(*ServerStream).SetHeader"
found=$(recipe_names "$unary" "$streaming" "$invoke" "$stream" "$own")
type=Stream
! recipe_has "$own" || type=ServerStream

print() # FUNCTION SIGNATURE SIDE CALL METHOD ERROR
{
	recipe_has "$1" || return 0
	if [ -n "$recipe_count" ]; then
		[ -n "$recipe_failed" ] || recipe_probe "r:$1$2 ($6 == nil$recipe_slow) \"$3 $4 %s\", $5"
		recipe_probe "r:$1$2 ($6 != nil$recipe_slow) \"$3 $4 %s: %v\", $5, $6"
		return
	fi
	columns="%-7d %-7d %{side:$3} $4 %4d.%03d %{status:" values="\$pid, \$goid, \$latency / 1000000, \$latency / 1000 % 1000, $5"
	[ -n "$recipe_failed" ] || recipe_probe "r:$1$2 ($6 == nil$recipe_slow) \"${columns}OK}   %{method:%s}\", $values"
	recipe_probe "r:$1$2 ($6 != nil$recipe_slow) \"${columns}FAIL} %{method:%s}: %{error:%v}\", $values, $6"
}

# The first parameter is the transport, or a context since gRPC 1.58;
# what follows the stream is not needed: pointers.
served() # FUNCTION CALL
{
	print "$1" "(with interface{}, stream *$transport.$type, service uintptr, method uintptr, trace uintptr) (err error)" SERVER "$2" stream.method err
}

case $sides in
c | cc*) ;;
*)
	served "$unary" '%{call:UNARY} '
	served "$streaming" '%{call:STREAM}'
	;;
esac
case $sides in
s | ss*) ;;
*)
	print "$invoke" '' CLIENT '%{call:UNARY} ' goarg3 goret1
	print "$stream" '' CLIENT '%{call:STREAM}' goarg4 goret2
	;;
esac
case $sides in
*s* | '') needed=$unary ;;
*) needed=$invoke ;;
esac
[ -n "$recipe_probes" ] || recipe_need "$needed" "has no gRPC of $grpc"
recipe_trace 'PID     GOID    SIDE   CALL    LAT(ms) STAT METHOD' 'SIDE   CALL   METHOD'
