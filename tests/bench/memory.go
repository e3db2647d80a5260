// SPDX-License-Identifier: Apache-2.0

// The program whose memory is looked at. It serves /debug/pprof/heap; with the argument "stacks" its profile
// has thousands of them, of objects that stay. For each line on stdin:
//
//	objects N      allocates N objects, and prints the CPU time of one in ns, of that thread
//	collections N  collects N times, and prints the CPU time of one in ns, of the whole process
//	felt 0         prints the CPU time of the whole process in ns
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

const (
	depth   = 12 // 4096 stacks
	parked  = 100
	process = 2 // clocks
	thread  = 3
)

type object struct {
	next *object
	rest [99]int
}

var (
	last *object
	kept []*object
)

func init() {
	if len(os.Args) > 1 {
		runtime.MemProfileRate = 1
	}
}

func cpuTime(clock uintptr) int64 {
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

//go:noinline
func makes() *object { return &object{next: last} }

//go:noinline
func left(way, steps int) { forks(way, steps) }

//go:noinline
func right(way, steps int) { forks(way, steps) }

func forks(way, steps int) {
	if steps == 0 {
		kept = append(kept, makes())
	} else if way&1 == 0 {
		left(way>>1, steps-1)
	} else {
		right(way>>1, steps-1)
	}
}

func objects(n int) float64 {
	start := cpuTime(thread)
	for i := 0; i < n; i++ {
		last = makes()
		last.next = nil
	}
	each := float64(cpuTime(thread)-start) / float64(n)
	runtime.GC() // before the next ones
	return each
}

func collections(n int) float64 {
	start := cpuTime(process)
	for i := 0; i < n; i++ {
		runtime.GC()
	}
	return float64(cpuTime(process)-start) / float64(n)
}

func serves() net.Addr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, nil)
	return listener.Addr()
}

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // it collects when it is asked to
	for way := 0; len(os.Args) > 1 && way < 1<<depth; way++ {
		forks(way, depth)
	}
	for i := 0; i < parked; i++ {
		go func() { select {} }()
	}
	runtime.GC()
	runtime.GC() // now the profile has it
	fmt.Println("ready", serves())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var what string
		var n int
		fmt.Sscan(in.Text(), &what, &n)
		switch what {
		case "objects":
			fmt.Println(objects(n))
		case "collections":
			fmt.Println(collections(n))
		default:
			fmt.Println(cpuTime(process))
		}
	}
}
