// SPDX-License-Identifier: Apache-2.0

// The program whose goroutines are looked at: as many as its argument says, blocked in several ways.
// It looks at the clock all the time; for each line on stdin it prints for how many ns it has stood
// still at the most since the line before.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	longest int64
	lock    sync.Mutex
	never   = make(chan int)
	results = make(chan int, 3)
)

//go:noinline
func receive(depth int) int {
	if depth > 0 {
		return receive(depth-1) + 1
	}
	return <-never
}

//go:noinline
func wait() int {
	select {
	case n := <-never:
		return n
	case n := <-results:
		return n
	}
}

//go:noinline
func hold() {
	lock.Lock()
	defer lock.Unlock()
	runtime.KeepAlive(&lock)
}

func watchClock() {
	runtime.LockOSThread()
	for last := time.Now(); ; {
		now := time.Now()
		if gap := now.Sub(last).Nanoseconds(); gap > atomic.LoadInt64(&longest) {
			atomic.StoreInt64(&longest, gap)
		}
		last = now
	}
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	lock.Lock()
	for i := 0; i < count; i++ {
		switch i % 4 {
		case 0:
			go receive(1 + i/4%5)
		case 1:
			go wait()
		case 2:
			go hold()
		default:
			go time.Sleep(time.Hour)
		}
	}
	go watchClock()
	time.Sleep(time.Second)
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(atomic.SwapInt64(&longest, 0))
	}
}
