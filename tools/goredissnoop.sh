#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Commands that Go programs send to Redis: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace commands that Go programs send to Redis by redigo'
recipe_args='[BINARY]'
recipe_synopsis='[-a] [-x] [-m MS] [-A] [-i INTERVAL]'
recipe_letters=a
recipe_filters=xmAi
recipe_options="  -a, --args            print all arguments, not the key alone: they may be
                        secret"
recipe_counted='equal commands, keys and errors'
recipe_examples="    goredissnoop -p 181           # trace one process
    goredissnoop -x -T ./app      # failed ones, with the time, of all ./app
    goredissnoop -m 10 -U -p 181  # slow ones, with stacks
    goredissnoop -A -i 10 -p 181  # counts of equal ones every 10 seconds
    goredissnoop -- ./app arg     # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

args=''
take_option() { args=yes; }
recipe_long() { [ "$1" = args ] && echo a; }
recipe_parse "$@"

# All ways to a command lead to one of the first two, of a connection: those of pools, scripts and
# subscriptions, too. The replies to what was sent come by the third.
conn='redigo/redis\.\(\*conn\)'
found=$(recipe_gofuncs "(.*/$conn\.DoWithTimeout|.*/$conn\.Send|.*/$conn\.ReceiveWithTimeout)\$" -r)
case $found in
*.DoWithTimeout*) ;;
*) recipe_need 'github.com/gomodule/redigo/redis.(*conn).DoWithTimeout' 'sends no commands to Redis by redigo' ;;
esac

print() # PREDICATE [VERBS, VALUES]
{
	verbs="\"$how " values=
	if [ -z "$recipe_count" ]; then
		verbs="\"%-7d %-7d $how %4d.%03d " values=', $pid, $goid, $latency / 1000000, $latency / 1000 % 1000'
	fi
	[ -n "$recipe_failed" ] || recipe_probe "r:$door ($1$error == nil$recipe_slow) $verbs$2\"$values${3-}"
	recipe_probe "r:$door ($1$error != nil$recipe_slow) $verbs$2: %{error:%v}\"$values${3-}, $error"
}

# The first argument is the key, but for AUTH, whose arguments are a name and a password.
auth='(len(cmd) == 4 && (cmd[0] | 32) == 97 && (cmd[1] | 32) == 117 && (cmd[2] | 32) == 116 && (cmd[3] | 32) == 104)'
sent()
{
	if [ -n "$args" ]; then
		print 'len(cmd) != 0 && ' '%{command:%s} %{args:%v}' ', cmd, args'
		return
	fi
	print "len(cmd) != 0 && len(args) != 0 && !$auth && " '%{command:%s} %{key:%v}' ', cmd, args[0]'
	print "len(cmd) != 0 && (len(args) == 0 || $auth) && " '%{command:%s}' ', cmd'
}

while IFS= read -r door; do
	case $door in
	*.DoWithTimeout)
		door="$door(timeout int64, cmd string, args []interface{}) (reply interface{}, err error)"
		how='DO  ' error=goret2
		sent
		;;
	*.Send)
		door="$door(cmd string, args []interface{}) error"
		how='SEND' error=goret1
		sent
		;;
	*.ReceiveWithTimeout)
		door="$door(timeout int64) (reply interface{}, err error)"
		how='RECV' error=goret2
		print '' -
		;;
	esac
done <<FOUND
$found
FOUND
recipe_trace 'PID     GOID    HOW  LAT(ms) COMMAND' 'HOW  COMMAND'
