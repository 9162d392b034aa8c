"""Rows of sacct and small configurations, written down for tests."""

from __future__ import annotations

from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.sacct_rows import COLUMNS

T0 = 1_700_000_000
CONF = """
ClusterName=here
NodeName=n[1-4] CPUs=8 RealMemory=16000 Features=fast Gres=gpu:2
NodeName=big1 CPUs=16 RealMemory=64000
PartitionName=main Nodes=n[1-4] Default=YES MaxTime=1-0
PartitionName=large Nodes=ALL MaxTime=7-0
"""
CONS = CONF + "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"


def row(job_id="1", **values):
    """Return a row of a job that ran from 10 to 70 on one node; times are after T0."""
    fields = {
        "JobIDRaw": job_id,
        "JobID": job_id,
        "Submit": 0,
        "Eligible": values.get("Submit", 0),
        "Start": 10,
        "End": 70,
        "Suspended": "00:00:00",
        "State": "COMPLETED",
        "ExitCode": "0:0",
        "Partition": "main",
        "QOS": "normal",
        "Account": "physics",
        "User": "ada",
        "ReqCPUS": "8",
        "ReqNodes": "1",
        "ReqTRES": "billing=8,cpu=8,mem=16000M,node=1",
        "AllocTRES": "billing=8,cpu=8,mem=16000M,node=1",
        "Timelimit": "00:10:00",
        "NodeList": "n1",
        "Priority": "100",
        "Flags": "SchedMain",
        "JobName": "sim",
        "SubmitLine": "sbatch job.sh",
        **values,
    }
    return "|".join(_shown(fields.get(name, "")) for name in COLUMNS)


def _shown(value):
    return str(T0 + value) if isinstance(value, int) else value


HEADER = "|".join(COLUMNS)


def sacct_file(folder, *rows, header=HEADER, name="sacct.txt"):
    """Write rows below a header; return the path."""
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def settings(text=CONF):
    """Return the settings of a configuration."""
    return settings_from(parse_conf(text))
