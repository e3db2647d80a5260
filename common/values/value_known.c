// SPDX-License-Identifier: Apache-2.0
/* The table of types with known texts; and the texts of index errors (Go's src/runtime/error.go),
 * certificate errors (src/crypto/x509/verify.go) and gRPC's status errors. */
#include "values/value_known_internal.h"
#include "values/value_internal.h"
#include "values/value_read_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool value_known_number(const struct value_source *source, const struct value_at *at,
			const char *name, int64_t *out)
{
	struct value_at field;

	return value_field(at, name, &field) && value_read_number(source, &field, out) == VALUE_GOT;
}

bool value_known_bytes(const struct value_source *source, const struct value_at *at,
		       const char *name, struct value_bytes *out)
{
	struct value_at field;

	if (!value_field(at, name, &field) ||
	    (field.type->kind != GOTYPE_STRING && field.type->kind != GOTYPE_SLICE))
		return false;
	enum value_got got = value_read_bytes(source, &field, out);

	return got == VALUE_NIL || got == VALUE_GOT;
}

bool value_known_whole(const struct value_source *source, const struct value_at *at,
		       const char *name, struct value_bytes *out)
{
	return value_known_bytes(source, at, name, out) && out->len == out->count;
}

/* By code, in the order of Go's constants; %x and %y stand for x and y; `negative`: used if x is
 * negative. */
static const struct {
	const char *text, *negative;
} BOUNDS[] = {
	{"index out of range [%x] with length %y", "index out of range [%x]"},
	{"slice bounds out of range [:%x] with length %y", "slice bounds out of range [:%x]"},
	{"slice bounds out of range [:%x] with capacity %y", "slice bounds out of range [:%x]"},
	{"slice bounds out of range [%x:%y]", "slice bounds out of range [%x:]"},
	{"slice bounds out of range [::%x] with length %y", "slice bounds out of range [::%x]"},
	{"slice bounds out of range [::%x] with capacity %y", "slice bounds out of range [::%x]"},
	{"slice bounds out of range [:%x:%y]", "slice bounds out of range [:%x:]"},
	{"slice bounds out of range [%x:%y:]", "slice bounds out of range [%x::]"},
};

static bool print_bounds(FILE *out, const struct value_source *source, const struct value_at *at)
{
	int64_t x, y, is_signed, code;

	if (!value_known_number(source, at, "x", &x) || !value_known_number(source, at, "y", &y) ||
	    !value_known_number(source, at, "signed", &is_signed) ||
	    !value_known_number(source, at, "code", &code))
		return false;
	if (code < 0 || code >= (int64_t)(sizeof(BOUNDS) / sizeof(BOUNDS[0])))
		return false;
	fputs("runtime error: ", out);
	for (const char *p = is_signed && x < 0 ? BOUNDS[code].negative : BOUNDS[code].text; *p;
	     p++) {
		if (*p != '%')
			putc(*p, out);
		else if (*++p == 'y' || is_signed)
			fprintf(out, "%" PRId64, *p == 'y' ? y : x);
		else
			fprintf(out, "%" PRIu64, (uint64_t)x);
	}
	return true;
}

/* By InvalidReason, in the order of Go's constants; %s stands for the detail. */
static const char *const INVALID[] = {
	"certificate is not authorized to sign other certificates",
	"certificate has expired or is not yet valid: %s",
	"a root or intermediate certificate is not authorized to sign for this name: %s",
	"too many intermediates for path length constraint",
	"certificate specifies an incompatible key usage",
	"issuer name does not match subject from issuing certificate",
	"issuer has name constraints but leaf doesn't have a SAN extension",
	"issuer has name constraints but leaf contains unknown or unconstrained name: %s",
	NULL, /* differs between versions of Go */
	"a root or intermediate certificate is not authorized for an extended key usage: %s",
};

static bool print_invalid(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes detail;
	int64_t reason;

	if (!value_known_number(source, at, "Reason", &reason) ||
	    !value_known_bytes(source, at, "Detail", &detail))
		return false;
	if (reason < 0 || reason >= (int64_t)(sizeof(INVALID) / sizeof(INVALID[0])) ||
	    !INVALID[reason])
		return false;
	const char *text = INVALID[reason], *end = strchr(text, '%');

	fprintf(out, "x509: %.*s", end ? (int)(end - text) : (int)strlen(text), text);
	if (end && detail.len)
		fwrite(detail.bytes, 1, detail.len, out);
	if (end && detail.len < detail.count)
		fputs("...", out);
	return true;
}

/* google.golang.org/grpc/codes */
static const char *const CODES[] = {
	"OK",
	"Canceled",
	"Unknown",
	"InvalidArgument",
	"DeadlineExceeded",
	"NotFound",
	"AlreadyExists",
	"PermissionDenied",
	"ResourceExhausted",
	"FailedPrecondition",
	"Aborted",
	"OutOfRange",
	"Unimplemented",
	"Internal",
	"Unavailable",
	"DataLoss",
	"Unauthenticated",
};

/* gRPC's Status points to the protocol's, which has a code and a message. */
static bool print_status(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_pointee inner;
	struct value_at field;
	struct value_bytes text;
	int64_t code;

	if (value_field(at, "s", &field))
		return field.type->kind == GOTYPE_POINTER &&
		       value_read_pointee(source, &field, &inner) == VALUE_GOT &&
		       value_field(&inner.at, "Code", &field) &&
		       print_status(out, source, &inner.at);
	if (!value_known_number(source, at, "Code", &code) ||
	    !value_known_bytes(source, at, "Message", &text))
		return false;
	if (code >= 0 && code < (int64_t)(sizeof(CODES) / sizeof(CODES[0])))
		fprintf(out, "rpc error: code = %s desc = ", CODES[code]);
	else
		fprintf(out, "rpc error: code = Code(%" PRIu32 ") desc = ", (uint32_t)code);
	if (text.len)
		fwrite(text.bytes, 1, text.len, out);
	if (text.len < text.count)
		fputs("...", out);
	return true;
}

static const struct {
	const char *type;
	value_known_fn *print;
} KNOWN[] = {
	{"net.IP", value_net_ip},
	{"net.IPMask", value_net_mask},
	{"net.HardwareAddr", value_net_hardware},
	{"net.TCPAddr", value_net_endpoint},
	{"net.UDPAddr", value_net_endpoint},
	{"net.IPAddr", value_net_addr},
	{"net.UnixAddr", value_net_unix},
	{"net.IPNet", value_net_network},
	{"netip.Addr", value_netip_addr},
	{"netip.AddrPort", value_netip_port},
	{"netip.Prefix", value_netip_prefix},
	{"url.URL", value_url},
	{"url.Userinfo", value_url_user},
	{"big.Int", value_bits_number},
	{"runtime.boundsError", print_bounds},
	{"status.Status", print_status},
	{"x509.CertificateInvalidError", print_invalid},
	{"trace.TraceID", value_bits_hex},
	{"trace.SpanID", value_bits_hex},
};

static value_known_fn *find_printer(const struct gotype *type)
{
	size_t len = strlen(type->name);

	if (type->kind != GOTYPE_STRUCT && type->kind != GOTYPE_SLICE && type->kind != GOTYPE_ARRAY)
		return NULL;
	if (type->kind == GOTYPE_ARRAY && len > 5 && !strcmp(type->name + len - 5, ".UUID"))
		return value_bits_uuid;
	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
		if (!strcmp(KNOWN[i].type, type->name))
			return KNOWN[i].print;
	}
	return NULL;
}

bool value_has_text(const struct gotype *type)
{
	return find_printer(type->kind == GOTYPE_POINTER && type->elem ? type->elem : type);
}

char *value_known_text(const struct value_source *source, const struct value_at *at, size_t *len)
{
	bool is_pointer = at->type->kind == GOTYPE_POINTER && at->type->elem;
	value_known_fn *print = find_printer(is_pointer ? at->type->elem : at->type);
	struct value_pointee pointee;
	char *text = NULL;

	if (!print)
		return NULL;
	if (is_pointer && value_read_pointee(source, at, &pointee) != VALUE_GOT)
		return NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	bool printed = print(out, source, is_pointer ? &pointee.at : at);

	fclose(out);
	if (printed)
		return text;
	free(text);
	return NULL;
}
