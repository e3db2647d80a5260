#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that Go programs open: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace files that Go programs open or fail to open'
recipe_args='[BINARY]'
recipe_synopsis='[-x] [-w] [-A] [-i INTERVAL]'
recipe_letters=xwAi:
recipe_options="  -x, --failed          only failed ones
  -w, --write           only files opened for writing
  -A, --aggregate       count equal paths and errors, not with -j
  -i INTERVAL, --interval INTERVAL
                        with -A, print what was counted every INTERVAL seconds"
recipe_examples="    goopens -p 181                # trace one process
    goopens -x -U ./app           # failed ones, with stacks, of all ./app
    goopens -A -d 10 -p 181       # counts of equal paths for 10 seconds
    goopens -- ./app arg          # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

failed='' write='' count=''
take_option()
{
	case $1 in
	x) failed=yes ;;
	w) write=' && (flags & 3) != 0' ;;
	A) count='-A ' ;;
	i) recipe_passed="$recipe_passed-i $(recipe_quote "$2")" ;;
	esac
}
recipe_long()
{
	case $1 in
	failed) echo x ;;
	write) echo w ;;
	esac
}
recipe_parse "$@"
[ -z "$recipe_json" ] || count=

# What packages os, time, net and syscall open all goes through it.
opens='syscall.openat'
# os.Root, and what programs open by golang.org/x/sys
set -- internal/syscall/unix.Openat golang.org/x/sys/unix.openat
recipe_need "$opens" "opens no files by package syscall" "$@"
for more; do
	recipe_has "$more" && opens="$opens $more"
done
words='(dirfd int, path string, flags int, mode uint32) (fd int, err error)'
took='$latency / 1000000, $latency / 1000 % 1000'
file='%{flags:%08o} %{perm:%04o} %{path:%s}'
for open in $opens; do
	if [ -n "$count" ]; then
		[ -n "$failed" ] || recipe_probe "r:$open$words (err == nil$write) \"%s\", path"
		recipe_probe "r:$open$words (err != nil$write) \"%s: %v\", path, err"
	else
		[ -n "$failed" ] || recipe_probe "r:$open$words (err == nil$write) \"%-7d %-7d %{fd:%-4d} %4d.%03d $file\", \$pid, \$goid, fd, $took, flags, mode, path"
		recipe_probe "r:$open$words (err != nil$write) \"%-7d %-7d -    %4d.%03d $file: %{error:%v}\", \$pid, \$goid, $took, flags, mode, path, err"
	fi
done
recipe_passed="$recipe_passed$count"
if [ -n "$count" ]; then
	recipe_trace PATH
else
	recipe_trace 'PID     GOID    FD    LAT(ms) FLAGS    PERM PATH'
fi
