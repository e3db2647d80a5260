/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of types that descriptors know: reflect.Kind's numbers. */
#ifndef RTTI_KIND_H
#define RTTI_KIND_H

enum rtti_kind {
	RTTI_BOOL = 1,
	RTTI_INT = 2, /* to INT64 */
	RTTI_UINT = 7,
	RTTI_FLOAT32 = 13,
	RTTI_COMPLEX64 = 15,
	RTTI_ARRAY = 17,
	RTTI_CHAN,
	RTTI_FUNC,
	RTTI_INTERFACE,
	RTTI_MAP,
	RTTI_POINTER,
	RTTI_SLICE,
	RTTI_STRING,
	RTTI_STRUCT,
	RTTI_UNSAFE_POINTER,
};

#endif
