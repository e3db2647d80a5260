/* SPDX-License-Identifier: Apache-2.0 */
/* In which release of Go something changed, with the place in Go's tree that shows it. A release is
 * N of Go 1.N, negative where it is not known. No other file compares one with a number of its own;
 * what has another value in each release stands in a table: program/moduledata.c,
 * sites/goruntime.c. */
#ifndef RELEASE_H
#define RELEASE_H

enum release {
	/* parameters and results in registers: src/internal/buildcfg/exp.go, regabi */
	RELEASE_REGISTERS_AMD64 = 17,
	RELEASE_REGISTERS_ARM64 = 18,
	/* frame pointers follow a stack that moves on arm64, too: src/runtime/stack.go, adjustframe
	 */
	RELEASE_FRAMES_MOVE_ARM64 = 21,
	/* go statements call functions without arguments: src/runtime/proc.go, newproc1 */
	RELEASE_GO_WITHOUT_ARGS = 18,
	/* FUNCDATA_ArgInfo: src/cmd/compile/internal/ssagen/pgen.go, emitArgInfo */
	RELEASE_ARGINFO = 17,
	/* tracebacks leave out an inlined function by its own name, no more by that of the function
	 * that has its code: src/runtime/traceback.go, gentraceback (golang.org/issue/42754) */
	RELEASE_INLINED_BY_NAME = 16,
	/* of a frame with inlined calls, tracebacks print the arguments that are live where it
	 * stands, no more where the outermost of these calls does; and src/runtime/traceback.go,
	 * traceback2 */
	RELEASE_TRACEBACK2 = 21,
	/* FUNCDATA_ArgLiveInfo: src/cmd/compile/internal/liveness/arg.go */
	RELEASE_ARG_LIVE = 18,
	/* DWARF lists parameters in the source's order, no more by their places:
	 * src/cmd/compile/internal/gc/scope.go before, varsByScopeAndOffset */
	RELEASE_DWARF_IN_ORDER = 17,
	/* type parameters, by a hidden dictionary: src/cmd/compile/internal/noder/stencil.go */
	RELEASE_GENERICS = 18,
	/* the dictionary comes after a method's receiver: src/cmd/compile/internal/noder/reader.go
	 */
	RELEASE_DICTIONARY_SECOND = 20,
	/* g.waitreason is set before the status: src/runtime/proc.go, casGToWaiting */
	RELEASE_REASON_FIRST = 20,
	/* parameters without a name are in DWARF: src/cmd/compile/internal/ir/func.go, "~p" */
	RELEASE_BLANKS_IN_DWARF = 22,
	/* maps are Swiss tables: src/internal/runtime/maps */
	RELEASE_SWISS_MAPS = 24,

	/* run-time types, src/reflect/type.go: lengths of names are varints (name.readVarint);
	 * fields' offsets are not shifted (structField.offsetEmbed before) */
	RELEASE_VARINT_NAMES = 17,
	RELEASE_PLAIN_OFFSETS = 19,
	/* and src/internal/abi/map.go: a map's descriptor is longer (MapType.KeyStride) */
	RELEASE_LONG_MAP_TYPE = 27,

	/* pclntab's header does not tell where text begins: src/cmd/link/internal/ld/pcln.go */
	RELEASE_NO_TEXT_START = 26,
	/* moduledata lists no descriptors, which stand in a row: src/runtime/symtab.go, typedesclen
	 */
	RELEASE_TYPES_IN_A_ROW = 27,

	/* src/runtime/runtime2.go: g.syscallbp comes before g.goid; gobuf, of which g and m have
	 * one, has lost its word `ret` */
	RELEASE_SYSCALLBP = 23,
	RELEASE_SHORT_GOBUF = 25,
	RELEASE_SECRETS = 26,          /* g.secret */
	RELEASE_LABEL_SETS = 24,       /* g.labels has a slice; before, a map */
	RELEASE_TRACEBACK_LABELS = 27, /* tracebacks show them */
	RELEASE_BUBBLES = 25,          /* g.bubble, of testing/synctest */
	/* sudog.elem and sudog.c are two words each; g.waiting is set for semaphores, too */
	RELEASE_TRACEABLE_SUDOGS = 26,
	/* src/runtime/chan.go: hchan.timer; g.sleepWhen */
	RELEASE_TIMER_CHANNELS = 23,
	/* src/runtime/netpoll.go: pollDesc.atomicInfo, and rg and wg behind it; pollDesc.fdseq */
	RELEASE_POLL_ATOMIC = 18,
	RELEASE_POLL_SEQUENCE = 21,
	/* src/runtime/stack.go: stackObjectRecord has the variable's size, no more its type */
	RELEASE_OBJECT_SIZES = 18,
	/* src/runtime/runtime2.go: _defer.fn is a function without arguments, which stood behind
	 * the _defer before; there is no _defer._panic */
	RELEASE_DEFER_WITHOUT_ARGS = 18,
	RELEASE_DEFER_WITHOUT_PANIC = 22,
	/* src/runtime/proc.go: reentersyscall and exitsyscall change a goroutine's status by
	 * themselves, no more by casgstatus */
	RELEASE_SYSCALL_STATUS = 26,
	/* src/runtime/mprof.go: mProfCycle has the flag `flushed` as its lowest bit; memRecordCycle
	 * counts objects alone, as all of a bucket have its size */
	RELEASE_CYCLE_HOLDER = 19,
	RELEASE_RECORD_COUNTS = 27,
	/* src/runtime/mstats.go: memstats.heapStats; heapStatsDelta has lost a word */
	RELEASE_HEAP_DELTAS = 16,
	RELEASE_SHORT_HEAP_STATS = 25,
	/* src/runtime/proc.go: stopTheWorldWithSema is told why, by a number; it returns a
	 * worldStop, which startTheWorldWithSema takes, with when it began to stop the world, and
	 * when it had. work.pauseStart is gone with it */
	RELEASE_STOP_REASONS = 21,
	RELEASE_WORLD_STOP = 22,
	RELEASE_STOPPED_WHEN = 23,
	/* src/runtime/runtime2.go: m.signalSecret comes before m.p */
	RELEASE_SIGNAL_SECRET = 26,
	/* src/context/context.go, cancelCtx: done is an atomic.Value; cancel is told a cause, which
	 * is kept; propagateCancel is a method; err is an atomic.Value */
	RELEASE_CONTEXT_DONE_VALUE = 17,
	RELEASE_CONTEXT_CAUSE = 20,
	RELEASE_CONTEXT_JOINS = 21,
	RELEASE_CONTEXT_ERR_VALUE = 25,
	/* src/runtime/malloc_tables_generated.go: mallocgc leaves sizes up to 80 bytes to a
	 * function for each size */
	RELEASE_MALLOC_BY_SIZE = 27,
	/* src/runtime/mheap.go: mspan.pinnerBits; mheap.sweepgen stands right before allspans */
	RELEASE_PINNER_BITS = 21,
	RELEASE_SWEEP_STATE = 18,
	/* src/runtime/mbitmap.go: objects of more than 512 bytes that have pointers begin with a
	 * word that points to their type; mspan has narrower fields */
	RELEASE_MALLOC_HEADERS = 22,
	/* src/runtime/sizeclasses.go: there is a class of 24 bytes */
	RELEASE_SIZE_24 = 16,
};
/* src/runtime/mgcpacer.go, gcControllerState: 1.17 has next_gc there, 1.18 consMarkController, 1.19
 * what memstats had; 1.20 has lost fields behind memoryLimit, of which lastConsMark is longer since
 */
enum { RELEASE_CONTROLLER = 17, RELEASE_SMOOTHED_PACER = 18, RELEASE_PACER = 19 };
enum { RELEASE_SHORT_PACER = 20, RELEASE_CONS_MARKS = 21 };
enum { RELEASE_MALLOC_HANDS_ON = 81 }; /* bytes: sizes below this */
/* src/runtime/mheap.go: kinds of struct special, whose offset was 2 bytes before cleanups;
 * specialCleanup has an argument */
enum { RELEASE_WEAK_POINTERS = 23, RELEASE_CLEANUPS = 24 };
enum { RELEASE_TINY_SPECIALS = 25, RELEASE_CLEANUP_ARGS = 26 };

#endif
