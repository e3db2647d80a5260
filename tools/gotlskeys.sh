#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Keys of TLS connections, as Wireshark reads them: a recipe for gotrace.
# shellcheck disable=SC2016,SC2034,SC2154 # gotrace's words; variables of the library
recipe_about='Write the keys of TLS connections of Go programs, for Wireshark (NSS key log)'
recipe_args='[BINARY]'
recipe_synopsis='[-o FILE]'
recipe_letters=o:
recipe_bare=yes
recipe_options="  -o FILE, --output FILE
                        write to FILE, a new one that only this user can read"
recipe_examples="    gotlskeys -o keys.log -p 181  # keys of connections that one process begins
    gotlskeys -o keys.log ./app   # of all processes of ./app
    gotlskeys -o keys.log -- ./app arg
                                  # start a program: of all its connections
    tshark -o tls.keylog_file:keys.log -r capture.pcap
                                  # what reads them"
# shellcheck source=tools/lib/gorecipe
. "$(dirname -- "$(readlink -f -- "$0")")/lib/gorecipe" || exit

take_option() { recipe_passed="$recipe_passed-o $(recipe_quote "$2")"; }
recipe_long() { [ "$1" = output ] && echo o; }
recipe_parse "$@"

# All keys pass it, of both ends and all versions of TLS; it is what asks whether there is a
# KeyLogWriter. A copy of crypto/tls in another package may have kept the name.
recipe_need 'crypto/tls.(*Config).writeKeyLog' 'has no TLS connections of package crypto/tls'
found=$(recipe_gofuncs '(.*\.\(\*[cC]onfig\)\.writeKeyLog)$' -r)
while IFS= read -r log; do
	case $log in
	*.writeKeyLog) recipe_probe "$log(label string, clientRandom []byte, secret []byte) \"%{label:%s} %x %x\", label, clientRandom, secret" ;;
	esac
done <<FOUND
$found
FOUND
[ -n "$recipe_show" ] ||
	echo "Whoever has these keys can read these connections, recorded ones too." >&2
recipe_trace ''
