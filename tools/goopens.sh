#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that Go programs open: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace files that Go programs open or fail to open'
recipe_args='[BINARY]'
recipe_synopsis='[-x] [-w] [-A] [-i INTERVAL]'
recipe_letters=w
recipe_filters=xAi
recipe_options="  -w, --write           only files opened for writing"
recipe_size=4096 # PATH_MAX: all that the kernel takes
recipe_counted='equal paths and errors'
recipe_examples="    goopens -p 181                # trace one process
    goopens -x -U ./app           # failed ones, with stacks, of all ./app
    goopens -A -d 10 -p 181       # counts of equal paths for 10 seconds
    goopens -- ./app arg          # start a program and trace it"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

write=''
take_option()
{
	case $1 in
	w) write=' && (flags & 3) != 0' ;;
	esac
}
recipe_long()
{
	case $1 in
	write) echo w ;;
	esac
}
recipe_parse "$@"

# What packages os, time, net and syscall open all goes through it.
opens='syscall.openat'
# os.Root, and what programs open by golang.org/x/sys
set -- internal/syscall/unix.Openat golang.org/x/sys/unix.openat
recipe_need "$opens" "opens no files by package syscall" "$@"
for more; do
	recipe_has "$more" && opens="$opens $more"
done
words='(dirfd int, path string, flags open.Flags, mode uint32) (fd int, err error)'
took='$latency / 1000000, $latency / 1000 % 1000'
file='%{flags:%-18v} %{perm:%04o} %{path:%s}'
for open in $opens; do
	if [ -n "$recipe_count" ]; then
		[ -n "$recipe_failed" ] || recipe_probe "r:$open$words (err == nil$write) \"%s\", path"
		recipe_probe "r:$open$words (err != nil$write) \"%s: %v\", path, err"
	else
		[ -n "$recipe_failed" ] || recipe_probe "r:$open$words (err == nil$write) \"%-7d %-7d %{fd:%-4d} %4d.%03d $file\", \$pid, \$goid, fd, $took, flags, mode, path"
		recipe_probe "r:$open$words (err != nil$write) \"%-7d %-7d -    %4d.%03d $file: %{error:%v}\", \$pid, \$goid, $took, flags, mode, path, err"
	fi
done
recipe_trace 'PID     GOID    FD    LAT(ms) FLAGS              PERM PATH' PATH
