// First come, first served, as a program of its own that speaks Batsim's protocol 4.
//
//	go run . tcp://127.0.0.1:28000
//
// Jobs start in the order of their submission, on the free hosts with the lowest ids; the first
// that does not fit holds back all others. Jobs larger than the platform are rejected.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pebbe/zmq4"
)

type object = map[string]any

type message struct {
	Now    json.Number `json:"now"`
	Events []event     `json:"events"`
}
type event struct {
	Timestamp json.Number `json:"timestamp"`
	Type      string      `json:"type"`
	Data      object      `json:"data"`
}
type job struct {
	id     string
	nHosts int
}

type fcfs struct {
	busy    []bool // by the ids of hosts
	nFree   int
	waiting []job
	running map[string][]int
	ended   bool
}

func (p *fcfs) answer(request message) message {
	said := []event{}
	say := func(kind string, data object) { said = append(said, event{request.Now, kind, data}) }
	for _, happened := range request.Events {
		data := happened.Data
		switch happened.Type {
		case "SIMULATION_BEGINS":
			p.nFree = len(data["compute_resources"].([]any))
			p.busy, p.running = make([]bool, p.nFree), map[string][]int{}
		case "JOB_SUBMITTED":
			next := job{data["job_id"].(string), int(data["job"].(object)["res"].(float64))}
			if next.nHosts > len(p.busy) {
				say("REJECT_JOB", object{"job_id": next.id})
			} else {
				p.waiting = append(p.waiting, next)
			}
		case "JOB_COMPLETED":
			for _, host := range p.running[data["job_id"].(string)] {
				p.busy[host], p.nFree = false, p.nFree+1
			}
		case "SIMULATION_ENDS":
			p.ended = true
		}
	}
	for ; len(p.waiting) > 0 && p.waiting[0].nHosts <= p.nFree; p.waiting = p.waiting[1:] {
		next, hosts := p.waiting[0], []int{}
		for host := 0; len(hosts) < next.nHosts; host++ {
			if !p.busy[host] {
				p.busy[host], p.nFree = true, p.nFree-1
				hosts = append(hosts, host)
			}
		}
		p.running[next.id] = hosts
		alloc := strings.Trim(fmt.Sprint(hosts), "[]")
		say("EXECUTE_JOB", object{"job_id": next.id, "alloc": alloc})
	}
	return message{request.Now, said}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	socket := must(zmq4.NewSocket(zmq4.REP))
	must(0, socket.Bind(append(os.Args, "tcp://127.0.0.1:28000")[1]))
	for policy := (&fcfs{}); !policy.ended; {
		var request message
		must(0, json.Unmarshal(must(socket.RecvBytes(0)), &request))
		must(socket.SendBytes(must(json.Marshal(policy.answer(request))), 0))
	}
	must(0, socket.Close())
	must(0, zmq4.Term()) // what was sent is delivered before the process ends
}
