#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads that get less than they asked for: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace reads that get fewer bytes than they ask for'
recipe_args='[BINARY]'
recipe_synopsis='[-n] [-a]'
recipe_letters=na
recipe_options="  -n, --net             include reads of connections, which are mostly short
  -a, --all             include reads that get nothing (end of file, timeout), and
                        reads of os.ReadFile, io.ReadAll and the like, which
                        read on to the end"
recipe_examples="    goshortreads -p 181           # trace one process
    goshortreads -na -U ./app     # connections too, errors, stacks
    goshortreads -- ./app arg     # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

all='' net=''
take_option()
{
	case $1 in
	n) net=yes ;;
	a) all=yes ;;
	esac
}
recipe_long()
{
	case $1 in
	net) echo n ;;
	all) echo a ;;
	esac
}
recipe_parse "$@"

short='goret1 > 0 && goret1 < len(goarg2)'
columns='%-7d %-7d %{got:%8d} %{asked:%8d}'
values='$pid, $goid, goret1, len(goarg2)'
probe_reads() # FUNCTION KEY NAME
{
	recipe_probe "r:$1 ($short) \"$columns %{$2:%s}\", $values, $3"
	[ -z "$all" ] ||
		recipe_probe "r:$1 (goret1 == 0 && len(goarg2) > 0) \"$columns %{$2:%s}: %{error:%v}\", $values, $3, goret2"
}
recipe_need 'os.(*File).Read' 'reads no files by package os'
probe_reads 'os.(*File).Read' file goarg1.file.name
if [ -n "$net" ]; then
	recipe_need 'net.(*conn).Read' 'has no connections of package net'
	probe_reads 'net.(*conn).Read' peer goarg1.fd.raddr
fi
# The last reads of what reads to the end are short, and no mistake.
if [ -z "$all" ]; then
	for reader in os.ReadFile io.ReadAll io.copyBuffer io/ioutil.ReadFile io/ioutil.readAll 'bytes.(*Buffer).ReadFrom'; do
		recipe_passed="$recipe_passed--not-under $(recipe_quote "$reader")"
	done
fi
recipe_trace 'PID     GOID         GOT    ASKED FILE OR PEER'
