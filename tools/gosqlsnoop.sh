#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SQL statements of Go programs: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace SQL statements that Go programs execute by database/sql'
recipe_args='[BINARY]'
recipe_synopsis='[-a] [-x] [-m MS] [-A] [-i INTERVAL]'
recipe_letters=a
recipe_filters=xmAi
recipe_options="  -a, --args            print arguments, too: they may be secret"
recipe_counted='equal statements and errors'
recipe_examples="    gosqlsnoop -p 181             # trace one process
    gosqlsnoop -x -T ./app        # failed ones, with the time, of all ./app
    gosqlsnoop -m 100 -aU -p 181  # slow ones, with arguments and stacks
    gosqlsnoop -A -i 10 -p 181    # counts of equal statements every 10 seconds
    gosqlsnoop -- ./app arg       # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

args=''
take_option()
{
	case $1 in
	a) args=yes ;;
	esac
}
recipe_long()
{
	case $1 in
	args) echo a ;;
	esac
}
recipe_parse "$@"

# All others call one of these once: Exec, Query, QueryRow, with or without a context. They get a
# connection, and try again where it was bad. Query and Stmt.Exec of a program that has no other:
sql=database/sql
set -- "$sql.(*DB).ExecContext" "$sql.(*DB).QueryContext" "$sql.(*Conn).ExecContext" \
	"$sql.(*Conn).QueryContext" "$sql.(*Tx).ExecContext" "$sql.(*Tx).QueryContext" \
	"$sql.(*Stmt).ExecContext" "$sql.(*Stmt).QueryContext"
# what drivers return that have no type of their own for it
affected='database/sql/driver.RowsAffected'
recipe_need "$sql.(*DB).conn" 'executes no statements by database/sql' "$@" "$affected.RowsAffected"

print() # PREDICATE AFFECTED-VERB [, AFFECTED] [ERROR-VERB, ERROR]
{
	if [ -n "$recipe_count" ]; then
		recipe_probe "r:$door ($1$recipe_slow) \"$how %s${4-}\", $text${5-}"
	else
		recipe_probe "r:$door ($1$recipe_slow) \"%-7d %-7d $how %4d.%03d $2 %{statement:%s}${args:+ %{args:%v\}}${4-}\", \$pid, \$goid, \$latency / 1000000, \$latency / 1000 % 1000${3-}, $text${args:+, $values}${5-}"
	fi
}

for door; do
	recipe_has "$door" || continue
	case $door in
	*Stmt*) text=goarg1.query values=goarg3 ;;
	*) text=goarg3 values=goarg4 ;;
	esac
	held="goret1.($sql.driverResult).resi.($affected)"
	case $door in
	*.ExecContext) how='EXEC ' ;;
	*) how=QUERY ;;
	esac
	if [ -n "$recipe_failed" ]; then
		:
	elif [ "$how" = QUERY ] || ! recipe_has "$affected.RowsAffected" || [ -n "$recipe_count" ]; then
		print 'goret2 == nil' '       -'
	else
		print "goret2 == nil && $held != nil" '%{affected:%8d}' ", $held"
		print "goret2 == nil && $held == nil" '       -'
	fi
	print 'goret2 != nil' '       -' '' ': %{error:%v}' ', goret2'
done
recipe_trace 'PID     GOID    HOW    LAT(ms) AFFECTED STATEMENT' 'HOW   STATEMENT'
