#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SQL statements of Go programs: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace SQL statements that Go programs execute by database/sql or pgx'
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
# Of pgx without database/sql; pools and transactions call these. Its Query returns before the server
# has answered: what it has made is closed once, when all rows were read.
pgx4=github.com/jackc/pgx/v4 pgconn4=github.com/jackc/pgconn pgx5=github.com/jackc/pgx/v5 pgconn5=github.com/jackc/pgx/v5/pgconn
found=$(recipe_names "$sql.(*DB).conn" "$affected.RowsAffected" "$@" "$pgx4.(*Conn).Exec" "$pgx4.(*connRows).Close" \
	"$pgx5.(*Conn).Exec" "$pgx5.(*baseRows).Close" "$pgx4/stdlib.(*Conn).QueryContext" "$pgx5/stdlib.(*Conn).QueryContext" \
	"$pgconn4.(*PgError).Error" "$pgconn5.(*PgError).Error")
recipe_has "$sql.(*DB).conn" || recipe_has "$pgx4.(*connRows).Close" || recipe_has "$pgx5.(*baseRows).Close" ||
	recipe_need "$sql.(*DB).conn" 'executes no statements by database/sql or pgx'

print() # PREDICATE AFFECTED-VERB [, AFFECTED] [ERROR-VERB, ERROR]
{
	if [ -n "$recipe_count" ]; then
		recipe_probe "r:$door ($1$slow) \"$how %s${4-}\", $text${5-}"
	else
		recipe_probe "r:$door ($1$slow) \"%-7d %-7d $how %4d.%03d $2 %{statement:%s}${args:+ %{args:%v\}}${4-}\", \$pid, \$goid, $took / 1000000, $took / 1000 % 1000${3-}, $text${args:+, $values}${5-}"
	fi
}

took=\$latency slow=$recipe_slow
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

# The server's errors as pgx words them; others as all are printed
pgx_failed() # PGCONN PREDICATE ERROR AFFECTED-VERB [, AFFECTED]
{
	error="$3.(*$1.PgError)"
	if recipe_has "$1.(*PgError).Error"; then
		print "$2 && $error != nil" "$4" "${5-}" ': %{error:%s} (SQLSTATE %{sqlstate:%s})' ", $error.Message, $error.Code"
		set -- "$1" "$2 && $error == nil" "$3" "$4" "${5-}"
	fi
	print "$2 && $3 != nil" "$4" "${5-}" ': %{error:%v}' ", $3"
}

# The server says what was affected in words: "INSERT 0 3", "UPDATE 3", "CREATE TABLE".
pgx_exec() # DOOR TYPE-OF-TAG PGCONN
{
	recipe_has "$1" || return 0
	door="$1(ctx context.Context, sql string, arguments []interface{}) (tag $2, err error)"
	how='EXEC ' text=sql values=arguments took=\$latency slow=$recipe_slow
	counts='len(tag) > 7 && tag[6] == 32 && tag[7] >= 48 && tag[7] < 58' inserts='len(tag) > 9 && tag[8] == 32'
	if [ -n "$recipe_failed" ]; then
		:
	elif [ -n "$recipe_count" ]; then
		print 'err == nil'
	else
		print "err == nil && $counts && ($inserts)" '%{affected:%8s}' ', tag[9:]'
		print "err == nil && $counts && !($inserts)" '%{affected:%8s}' ', tag[7:]'
		print "err == nil && !($counts)" '       -'
	fi
	pgx_failed "$3" true err '       -'
}

# The time is from Query on.
pgx_query() # DOOR PGCONN
{
	recipe_has "$1" || return 0
	door="$1()" how=QUERY text=goarg1.sql values=goarg1.args took='since(goarg1.startTime)'
	slow=$(printf %s "$recipe_slow" | sed 's/\$latency/since(goarg1.startTime)/')
	[ -n "$recipe_failed" ] ||
		print '!goarg1.closed && after(goarg1.err) == nil' '%{rows:%8d}' ', after(goarg1.rowCount)'
	pgx_failed "$2" '!goarg1.closed' 'after(goarg1.err)' '%{rows:%8d}' ', after(goarg1.rowCount)'
}

pgx_exec "$pgx4.(*Conn).Exec" '[]byte' "$pgconn4"
pgx_query "$pgx4.(*connRows).Close" "$pgconn4"
pgx_exec "$pgx5.(*Conn).Exec" string "$pgconn5"
pgx_query "$pgx5.(*baseRows).Close" "$pgconn5"
# By way of database/sql a statement has its line already.
for pgx in "$pgx4" "$pgx5"; do
	recipe_has "$pgx/stdlib.(*Conn).QueryContext" || continue
	for under in '(*Conn).ExecContext' '(*Conn).QueryContext' '(*Rows).Next' '(*Rows).Close'; do
		recipe_passed="$recipe_passed--not-under $(recipe_quote "$pgx/stdlib.$under")"
	done
done
recipe_trace 'PID     GOID    HOW    LAT(ms) AFFECTED STATEMENT' 'HOW   STATEMENT'
