// SPDX-License-Identifier: Apache-2.0

// The program that is traced: for each line N on stdin it calls main.checked, a function with a
// stack check, N times, and prints the CPU time of one call in ns. The thread's CPU time, not the
// clock's: what else runs on the machine is left out, and what the kernel does at a probe is not.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

var sink int

//go:noinline
func leaf(n int) int {
	return n * 3
}

//go:noinline
func checked(n int) int {
	if n < 0 {
		n = leaf(n)
	}
	return n + 1
}

func cpuTime() int64 {
	const threadCPUTime = 3
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime,
		uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

func main() {
	var n int

	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	for {
		if _, err := fmt.Fscan(in, &n); err != nil {
			return
		}
		start := cpuTime()
		for i := 0; i < n; i++ {
			sink += checked(i)
		}
		fmt.Println(float64(cpuTime()-start) / float64(n))
	}
}
