#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What goes through TLS connections, as plain text: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Trace what Go programs read from and write to TLS connections, as plain text'
recipe_args='[BINARY]'
recipe_synopsis='[-r] [-w] [-x]'
recipe_letters=rwx
recipe_options="  -r, --read            only data that is read
  -w, --write           only data that is written
  -x, --hex             data in hexadecimal"
recipe_examples="    gotlssnoop -p 181             # trace one process
    gotlssnoop -Z 4096 ./app      # up to 4096 bytes of each, all its processes
    gotlssnoop -rx -- ./app arg   # start a program; what it reads, in hex"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

only='' verb=q
take_option()
{
	case $1 in
	r) only="${only}r" ;;
	w) only="${only}w" ;;
	x) verb=x ;;
	esac
}
recipe_long()
{
	case $1 in
	read) echo r ;;
	write) echo w ;;
	hex) echo x ;;
	esac
}
recipe_parse "$@"

# What was read is in the buffer when Read returns; what is written may be changed when Write has.
case $only in
'' | *r*)
	recipe_need 'crypto/tls.(*Conn).Read' 'has no TLS connections of package crypto/tls'
	recipe_probe "r:crypto/tls.(*Conn).Read (goret1 > 0) \"%-7d %-7d READ  %{bytes:%7d} %{data:%$verb}\", \$pid, \$goid, goret1, after(goarg2[:goret1])"
	;;
esac
case $only in
'' | *w*)
	recipe_need 'crypto/tls.(*Conn).Write' 'has no TLS connections of package crypto/tls'
	recipe_probe "r:crypto/tls.(*Conn).Write (goret1 > 0) \"%-7d %-7d WRITE %{bytes:%7d} %{data:%$verb}\", \$pid, \$goid, goret1, goarg2[:goret1]"
	;;
esac
recipe_trace 'PID     GOID    HOW     BYTES DATA'
