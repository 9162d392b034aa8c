// Does with time what its first argument names, and prints it. Built by the tests.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

func ticker() {
	begin := time.Now()
	n := 0
	for t := range time.NewTicker(10 * time.Second).C {
		n++
		fmt.Println(t.UnixNano(), t.Sub(begin).Nanoseconds())
		if n == 1000 {
			return
		}
	}
}

func sleepers() {
	begin := time.Now()
	var all sync.WaitGroup
	var lock sync.Mutex
	for _, seconds := range []int{7, 3, 11, 5} {
		all.Go(func() {
			for range 10 {
				time.Sleep(time.Duration(seconds) * time.Second)
				lock.Lock()
				fmt.Println(seconds, time.Since(begin).Nanoseconds())
				lock.Unlock()
			}
		})
	}
	all.Wait()
}

func order() {
	last := time.Now()
	for range 100000 {
		now := time.Now()
		if !now.After(last) || now.UnixNano() <= last.UnixNano() {
			fmt.Println("not after", last, now)
			os.Exit(1)
		}
		last = now
	}
	fmt.Println("ordered")
}

// A timer of a whole duration is due a whole duration after the date, however often the clock is read.
func chain() {
	for i := range 50 {
		for range 1000 * (i % 3) {
			time.Now()
		}
		time.Sleep(time.Second)
		fmt.Println(i)
	}
}

func server() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	connection, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	line := make([]byte, 1)
	for {
		if n, _ := connection.Read(line); n == 0 {
			return
		}
		fmt.Fprintln(connection, time.Now().UnixNano())
	}
}

func deadline() {
	begin := time.Now()
	c, cancel := context.WithTimeout(context.Background(), 90*time.Minute)
	defer cancel()
	<-c.Done()
	fmt.Println(c.Err(), time.Since(begin))
}

func main() {
	map[string]func(){
		"ticker": ticker, "sleepers": sleepers, "order": order, "chain": chain,
		"server": server, "deadline": deadline,
	}[os.Args[1]]()
}
