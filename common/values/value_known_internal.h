/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of types whose String() or Error() says more than a list of their fields: put together from
 * the fields as the method would. */
#ifndef VALUE_KNOWN_INTERNAL_H
#define VALUE_KNOWN_INTERNAL_H

#include "values/value_internal.h"

/* Prints the text of a value whose type has the expected name, as raw bytes. False: its fields are
 * not those of that type, or were not read; the output is then to be discarded. */
typedef bool value_known_fn(FILE *out, const struct value_source *source,
			    const struct value_at *at);

value_known_fn value_net_ip, value_net_mask, value_net_hardware; /* net.IP, ... */
value_known_fn value_net_endpoint;                               /* net.TCPAddr, net.UDPAddr */
value_known_fn value_net_addr;                                   /* net.IPAddr */
value_known_fn value_net_unix;                                   /* net.UnixAddr */
value_known_fn value_net_network;                                /* net.IPNet */
value_known_fn value_netip_addr, value_netip_port, value_netip_prefix;
value_known_fn value_url, value_url_user;
value_known_fn value_bits_number; /* big.Int */
value_known_fn value_bits_uuid;
value_known_fn value_bits_hex; /* OpenTelemetry's IDs */

/* The number, or the string or bytes, in the field of that name; false: there is no such field, or
 * it was not read. A nil slice has no bytes. */
bool value_known_number(const struct value_source *source, const struct value_at *at,
			const char *name, int64_t *out);
bool value_known_bytes(const struct value_source *source, const struct value_at *at,
		       const char *name, struct value_bytes *out);
/* the same; false also if it was not read to its end */
bool value_known_whole(const struct value_source *source, const struct value_at *at,
		       const char *name, struct value_bytes *out);

enum { VALUE_IPV6_MAX = 46 };

/* As net.IP and netip.Addr write the 16 bytes, but never as ::1.2.3.4. */
void value_net_ipv6(const uint8_t *bytes, char text[VALUE_IPV6_MAX]);

#endif
