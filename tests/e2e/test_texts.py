# SPDX-License-Identifier: Apache-2.0
"""Values whose methods say what they are: errors, addresses, times. The target tells what each says
before it calls a function with it; every line must be that one."""

import re

from harness import Target, Tool, expect, some_versions, test

from gotrace import texts, trace

STRINGERS = {  # functions of the fixture's, and what they are called with
    "showIP": "net.IP", "showMask": "net.IPMask", "showHardware": "net.HardwareAddr", "showTCP": "*net.TCPAddr",
    "showUDP": "*net.UDPAddr", "showIPAddr": "*net.IPAddr", "showUnix": "*net.UnixAddr", "showNet": "*net.IPNet",
    "showAddr": "net.Addr", "showURL": "*url.URL", "showURLValue": "url.URL", "showInt": "*big.Int",
    "showIntValue": "big.Int", "showUUID": "uuid.UUID", "showDuration": "time.Duration", "showTime": "time.Time",
    "showAny": "interface{}", "showPeer": "main.Peer", "showIPs": "[]net.IP",
}
FROM_18 = {"showNetip": "netip.Addr", "showPort": "netip.AddrPort", "showPrefix": "netip.Prefix"}


def same_as_told(target, probes, *options):
    """What is printed is what the target tells, line by line"""
    text, _ = trace(target, *options, *probes)
    told = target.out.text().splitlines()[1:]  # after "ready"
    seen = texts(text)
    differ = [f"{a}, not {b}" for a, b in zip(seen, told) if a != b]
    expect(not differ and len(seen) == len(told) > 30, f"{len(seen)} of {len(told)} lines; {differ[:3]}")


@test(version=some_versions, flavour=["plain", "strip"])
def texts_of_errors(version, flavour):
    """Errors as their Error() says them: wrapped, joined, promoted; others as the structs that they are"""
    with Target("failures", version, flavour) as target:
        same_as_told(target, [':main.fail(err error) "%v", err'], "-Z", "200")


@test(version=some_versions, flavour=["plain", "strip"])
def texts_of_values(version, flavour):
    """Addresses, URLs, numbers and times as their String() says them, within others as well"""
    functions = dict(STRINGERS, **(FROM_18 if int(version.split(".")[1]) >= 18 else {}))
    with Target("stringers", version, flavour) as target:
        probes = [':main.show* "%v", v'] if flavour == "plain" else [
            f':main.{name}(v {of}) "%v", v' for name, of in functions.items()]
        same_as_told(target, probes, "-Z", "400")


@test(version=some_versions)
def texts_by_verb(version):
    """%s and %q take what has a text of its own; %s prints that, %q quotes it"""
    with Target("stringers", version) as target:
        same_as_told(target, [f':main.{name} "%s", v' for name in STRINGERS if name not in ("showPeer", "showIPs", "showAny")]
                     + [':main.showPeer "%v", v', ':main.showIPs "%v", v', ':main.showAny "%v", v']
                     + ([':main.showNetip "%s", v', ':main.showPort "%s", v', ':main.showPrefix "%s", v']
                        if int(version.split(".")[1]) >= 18 else []), "-Z", "400")
    with Target("stringers", version) as target:
        text, _ = trace(target, ':main.showUnix "%q %x", v.Name, v.Name', ':main.showUnix "%q", v')
        expect(sorted(texts(text)) == ['"/run/x.sock"', '"/run/x.sock" 2f72756e2f782e736f636b'], text)


@test(version=some_versions)
def texts_aggregated(version):
    """Under -A, what differs in addresses alone is one line."""
    with Target("failures", version) as target, Tool(
            "gotrace", "-p", target.target_pid, "-A", "--header", "ERROR", ':main.fail "%v", err') as tool:
        tool.wait_line("Tracing")
        target.go()
        expect(tool.wait() == 0 and target.wait() == 0, tool.said())
        found = re.findall(r"^(\d+) +\*main\.located(.*)$", tool.out.text(), re.M)
        expect(found == [("3", "{at:0x..., n:1}")], tool.out.text())
