// SPDX-License-Identifier: Apache-2.0

// The program whose goroutines are blocked. For each line on stdin:
//
//	requests N    answers N requests, each of which takes a lock and waits for another goroutine;
//	              prints the CPU time of one in ns, of the whole process
//	starts N      starts N goroutines, and waits for each; prints the CPU time of one
//	naps N        has 8 goroutines sleep for a microsecond, N times each; prints the CPU time of one,
//	              and how many there were a second
//	waits MS      has 100 goroutines wait for such a time for a channel, a lock, a timer, over and over,
//	              beside one that works; prints how long all of them were blocked, in ns
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var (
	mutex     sync.Mutex
	questions = make(chan int)
	answers   = make(chan int)
	sink      int
	blocked   int64
)

func cpuTime() int64 {
	const processCPUTime = 2
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processCPUTime, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

//go:noinline
func asked(n int) int {
	questions <- n
	return <-answers
}

//go:noinline
func request(n int) int {
	mutex.Lock()
	n = asked(n)
	mutex.Unlock()
	return n
}

func requests(n int) {
	start := cpuTime()
	for i := 0; i < n; i++ {
		sink += request(i)
	}
	fmt.Println(float64(cpuTime()-start) / float64(n))
}

func starts(n int) {
	start := cpuTime()
	for i := 0; i < n; i++ {
		done := make(chan bool)
		go close(done)
		<-done
	}
	fmt.Println(float64(cpuTime()-start) / float64(n))
}

//go:noinline
func nap() { time.Sleep(time.Microsecond) }

func naps(n int) {
	const goroutines = 8
	var all sync.WaitGroup
	begun, start := time.Now(), cpuTime()
	all.Add(goroutines)
	for g := 0; g < goroutines; g++ {
		go func() {
			for i := 0; i < n; i++ {
				nap()
			}
			all.Done()
		}()
	}
	all.Wait()
	count := float64(goroutines * n)
	fmt.Println(float64(cpuTime()-start)/count, count/time.Since(begun).Seconds())
}

//go:noinline
func waitsForChannel(done chan bool) { <-done }

//go:noinline
func waitsForLock(lock *sync.Mutex) {
	lock.Lock()
	lock.Unlock()
}

//go:noinline
func waitsForTimer(d time.Duration) { time.Sleep(d) }

// keepWaiting calls wait again and again until the end: it takes about 20 ms.
func keepWaiting(end time.Time, kind int) {
	const d = 20 * time.Millisecond
	for time.Now().Before(end) {
		var lock sync.Mutex
		done := make(chan bool)
		lock.Lock()
		start := time.Now()
		switch kind {
		case 0:
			time.AfterFunc(d, func() { close(done) })
			waitsForChannel(done)
		case 1:
			time.AfterFunc(d, lock.Unlock)
			waitsForLock(&lock)
		default:
			waitsForTimer(d)
		}
		atomic.AddInt64(&blocked, int64(time.Since(start)))
	}
}

func waits(ms int) {
	var all sync.WaitGroup
	end := time.Now().Add(time.Duration(ms) * time.Millisecond)
	atomic.StoreInt64(&blocked, 0)
	all.Add(100)
	for g := 0; g < 100; g++ {
		go func(g int) {
			keepWaiting(end, g%3)
			all.Done()
		}(g)
	}
	for time.Now().Before(end) {
		sink++
	}
	all.Wait()
	fmt.Println(atomic.LoadInt64(&blocked))
}

func main() {
	var what string
	var n int

	debug.SetGCPercent(-1)
	go func() {
		for {
			answers <- <-questions
		}
	}()
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready", os.Getpid())
	for {
		if _, err := fmt.Fscan(in, &what, &n); err != nil {
			return
		}
		switch what {
		case "requests":
			requests(n)
		case "starts":
			starts(n)
		case "naps":
			naps(n)
		case "waits":
			waits(n)
		}
	}
}
