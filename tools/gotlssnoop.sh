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

read='crypto/tls.(*Conn).Read' write='crypto/tls.(*Conn).Write'
case $only in
*r*w* | *w*r*) only= ;;
*r*) write= ;;
*w*) read= ;;
esac
# HTTP/2 compresses the fields of its headers: they are taken where the program has them as text. That is in net/http
# up to Go 1.26, in a package below it since then, and in golang.org/x/net where a program has that itself.
set --
for http2 in 'net/http.(*http2' 'net/http/internal/http2.(*' 'golang.org/x/net/http2.(*'; do
	set -- "$@" "${http2}serverConn).newWriterAndRequest" "${http2}clientConnReadLoop).handleResponse" \
		"${http2}writeResHeaders).writeFrame" "${http2}clientStream).encodeAndWriteHeaders" \
		"${http2}ClientConn).encodeHeaders"
done
recipe_need "${read:-$write}" 'has no TLS connections of package crypto/tls' "$write" "$@"

# What was read is in the buffer when Read returns; what is written may be changed when Write has.
[ -z "$read" ] ||
	recipe_probe "r:$read (goret1 > 0) \"%-7d %-7d READ  %{bytes:%7d} %{data:%$verb}\", \$pid, \$goid, goret1, after(goarg2[:goret1])"
[ -z "$write" ] || ! recipe_has "$write" ||
	recipe_probe "r:$write (goret1 > 0) \"%-7d %-7d WRITE %{bytes:%7d} %{data:%$verb}\", \$pid, \$goid, goret1, goarg2[:goret1]"

# The function must be there. Lines have "HTTP/2" in place of the number of bytes.
headers() # HOW [r:]FUNCTION SIGNATURE-AND-PREDICATE FORMAT VALUES
{
	! recipe_has "${2#r:}" ||
		recipe_probe "$2$3 \"%-7d %-7d $1  HTTP/2 stream %{stream:%d}: $4\", \$pid, \$goid, $5"
}

received() # PREFIX TYPES REQUEST RESPONSE
{
	headers 'READ ' "r:$1serverConn).newWriterAndRequest" \
		"(st *$2stream, f uintptr) (w uintptr, req *$3, err error) (err == nil)" \
		'%{method:%s} %{uri:%s}' 'st.id, req.Method, req.RequestURI'
	headers 'READ ' "r:$1clientConnReadLoop).handleResponse" \
		"(cs *$2clientStream, f uintptr) (res *$4, err error) (err == nil && res != nil)" \
		'%{status:%d}' 'cs.ID, res.StatusCode'
}

sent() # PREFIX REQUEST
{
	headers WRITE "$1writeResHeaders).writeFrame" ' (goarg1.httpResCode != 0)' \
		'%{status:%d}' 'goarg1.streamID, goarg1.httpResCode'
	asks="$1clientStream).encodeAndWriteHeaders" how="(req *$2) error" stream=goarg1.ID
	# up to Go 1.16: the stream begins with this
	recipe_has "$asks" || asks="$1ClientConn).encodeHeaders" stream=goarg1.nextStreamID \
		how="(req *$2, gzip bool, trailers string, size int64) ([]byte, error)"
	headers WRITE "$asks" "$how" '%{method:%s} %{url:%v}' "$stream, req.Method, req.URL"
}

http2() # PREFIX TYPES REQUEST-SERVED REQUEST-MADE RESPONSE
{
	[ -z "$read" ] || received "$1" "$2" "$3" "$5"
	[ -z "$write" ] || sent "$1" "$4"
}
http2 'net/http.(*http2' net/http.http2 net/http.Request net/http.Request net/http.Response
below=net/http/internal/http2.
http2 "$below(*" $below ${below}ServerRequest ${below}ClientRequest ${below}ClientResponse
http2 'golang.org/x/net/http2.(*' golang.org/x/net/http2. net/http.Request net/http.Request net/http.Response
recipe_trace 'PID     GOID    HOW     BYTES DATA'
