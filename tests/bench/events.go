// SPDX-License-Identifier: Apache-2.0

// The program whose calls are printed: for each line "two N" or "text N" on stdin it calls that
// function N times, and prints the CPU time of one call in ns, of this thread.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

var (
	sink int
	word = strings.Repeat("0123456789abcdef", 2)
)

//go:noinline
func leaf(n int) int {
	return n * 3
}

//go:noinline
func two(a, b int) int {
	if a < 0 {
		a = leaf(a)
	}
	return a + b
}

//go:noinline
func text(s string) int {
	if len(s) == 0 {
		return leaf(3)
	}
	return len(s)
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

func run(what string, n int) {
	for i := 0; i < n; i++ {
		if what == "two" {
			sink += two(i, 13)
		} else {
			sink += text(word)
		}
	}
}

func main() {
	var what string
	var n int

	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	for {
		if _, err := fmt.Fscan(in, &what, &n); err != nil {
			return
		}
		start := cpuTime()
		run(what, n)
		fmt.Println(float64(cpuTime()-start) / float64(n))
	}
}
