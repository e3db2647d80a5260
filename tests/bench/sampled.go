// SPDX-License-Identifier: Apache-2.0

// The program that is sampled: it works some calls deep, on one thread. For each line on stdin:
//
//	work N      works N times, and prints the CPU time of one time in ns, of that thread
//	profile HZ  begins Go's own profile at this frequency; 0 ends it
package main

import (
	"bufio"
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"unsafe"
)

const depth = 20

var sink int

func cpuTime() int64 {
	const threadCPUTime = 3
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

//go:noinline
func adds(n int) (sum int) {
	for i := 0; i < 20000; i++ {
		sum += i ^ n
	}
	return sum
}

//go:noinline
func descends(n, left int) int {
	if left == 0 {
		return adds(n)
	}
	return descends(n, left-1) + 1
}

func work(n int) {
	start := cpuTime()
	for i := 0; i < n; i++ {
		sink += descends(i, depth)
	}
	fmt.Println(float64(cpuTime()-start) / float64(n))
}

func profile(hz int) {
	if hz == 0 {
		pprof.StopCPUProfile()
	} else {
		// StartCPUProfile asks for 100, and keeps what is set already
		runtime.SetCPUProfileRate(hz)
		if err := pprof.StartCPUProfile(ioutil.Discard); err != nil {
			panic(err)
		}
	}
	fmt.Println(hz)
}

func main() {
	runtime.LockOSThread()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var what string
		var n int
		fmt.Sscan(in.Text(), &what, &n)
		if what == "profile" {
			profile(n)
		} else {
			work(n)
		}
	}
}
