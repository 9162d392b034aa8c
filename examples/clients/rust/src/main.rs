//! First come, first served, as a program of its own that speaks Batsim's protocol 4.
//!
//!     cargo run --release -- tcp://127.0.0.1:28000
//!
//! Jobs start in the order of their submission, on the free hosts with the lowest ids; the first
//! that does not fit holds back all others. Jobs larger than the platform are rejected.
use serde_json::{json, Value};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::error::Error;

struct Job {
    id: String,
    n_hosts: usize,
}

#[derive(Default)]
struct Fcfs {
    n_hosts: usize,
    free: BTreeSet<u64>,
    waiting: VecDeque<Job>,
    running: HashMap<String, Vec<u64>>,
    ended: bool,
}

impl Fcfs {
    fn answer(&mut self, request: &Value) -> Option<Value> {
        let now = &request["now"];
        let mut events = Vec::new();
        let mut say = |kind: &str, data: Value| {
            events.push(json!({"timestamp": now, "type": kind, "data": data}));
        };
        for event in request["events"].as_array()? {
            let data = &event["data"];
            match event["type"].as_str()? {
                "SIMULATION_BEGINS" => {
                    let hosts = data["compute_resources"].as_array()?;
                    self.free = hosts
                        .iter()
                        .filter_map(|host| host["id"].as_u64())
                        .collect();
                    self.n_hosts = hosts.len();
                }
                "JOB_SUBMITTED" => {
                    let id = data["job_id"].as_str()?.to_string();
                    let n_hosts = data["job"]["res"].as_u64()? as usize;
                    if n_hosts > self.n_hosts {
                        say("REJECT_JOB", json!({"job_id": id}));
                    } else {
                        self.waiting.push_back(Job { id, n_hosts });
                    }
                }
                "JOB_COMPLETED" => {
                    self.free
                        .extend(self.running.remove(data["job_id"].as_str()?)?);
                }
                "SIMULATION_ENDS" => self.ended = true,
                _ => {}
            }
        }
        while self
            .waiting
            .front()
            .is_some_and(|job| job.n_hosts <= self.free.len())
        {
            let job = self.waiting.pop_front()?;
            let hosts: Vec<u64> = self.free.iter().take(job.n_hosts).copied().collect();
            let names: Vec<String> = hosts.iter().map(u64::to_string).collect();
            self.free.retain(|host| !hosts.contains(host));
            say(
                "EXECUTE_JOB",
                json!({"job_id": job.id, "alloc": names.join(" ")}),
            );
            self.running.insert(job.id, hosts);
        }
        Some(json!({"now": now, "events": events}))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let endpoint = std::env::args()
        .nth(1)
        .unwrap_or("tcp://127.0.0.1:28000".into());
    let socket = zmq::Context::new().socket(zmq::REP)?;
    socket.bind(&endpoint)?;
    let mut policy = Fcfs::default();
    while !policy.ended {
        let request = serde_json::from_slice(&socket.recv_bytes(0)?)?;
        let reply = policy
            .answer(&request)
            .ok_or("a request that is none of Batsim's")?;
        socket.send(&reply.to_string(), 0)?;
    }
    Ok(())
}
