"""Which logs the Parallel Workloads Archive has, and what to know before reading one.

`sha256` is that of the decompressed log; None where no copy was at hand to compute it from.
`n_hosts` is None where only the log's own header tells.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArchivedLog:
    """A log of the archive: its name here, its folder and file there, and what to know of it."""

    name: str
    folder: str
    file: str
    n_hosts: int | None = None
    sha256: str | None = None
    notes: str = ""


_NO_ARRIVALS = "Has no arrivals: submit times are start times."
_PARAGON = "Users of 1995 and of 1996 are numbered apart."

#: All logs that can be fetched.
LOGS: tuple[ArchivedLog, ...] = (
    ArchivedLog("nasa-ipsc", "l_nasa_ipsc", "NASA-iPSC-1993-3.1-cln.swf.gz", 128),
    ArchivedLog("lanl-cm5", "l_lanl_cm5", "LANL-CM5-1994-4.1-cln.swf.gz", 1024),
    ArchivedLog("sdsc-par-1995", "l_sdsc_par", "SDSC-Par-1995-3.1-cln.swf.gz", 416, notes=_PARAGON),
    ArchivedLog("sdsc-par-1996", "l_sdsc_par", "SDSC-Par-1996-3.1-cln.swf.gz", 416, notes=_PARAGON),
    ArchivedLog("ctc-sp2-1995", "l_ctc_sp2", "CTC-SP2-1995-2.swf.gz"),
    ArchivedLog(
        "ctc-sp2",
        "l_ctc_sp2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        notes="The machine had 512 nodes, of which some took no batch jobs; see the header.",
    ),
    ArchivedLog("llnl-t3d", "l_llnl_t3d", "LLNL-T3D-1996-2.swf.gz"),
    ArchivedLog(
        "kth-sp2",
        "l_kth_sp2",
        "KTH-SP2-1996-2.1-cln.swf.gz",
        100,
        "fba36494c4e4257f72182e8b629ebb0bcb054b3b82851ef957445bd627adcc87",
        "8 of 28 476 jobs never ran and one has no processors; 475 ran longer than requested.",
    ),
    ArchivedLog(
        "sdsc-sp2",
        "l_sdsc_sp2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        128,
        "2bb635f4b5793f52bd49ccb8fd913d95f9c5be6346925162cadcaf0117e28cf2",
        "5 681 of 59 715 jobs have no run time; utilisation is lower in the first third.",
    ),
    ArchivedLog("lanl-o2k", "l_lanl_o2k", "LANL-O2K-1999-2.swf.gz"),
    ArchivedLog("osc-cluster", "l_osc", "OSC-Clust-2000-3.1-cln.swf.gz"),
    ArchivedLog(
        "sdsc-blue",
        "l_sdsc_blue",
        "SDSC-BLUE-2000-4.2-cln.swf.gz",
        1152,
        notes="144 nodes of 8 processors.",
    ),
    ArchivedLog("sandia-ross", "l_sandia_ross", "Sandia-Ross-2001-1.1-cln.swf.gz"),
    ArchivedLog("hpc2n", "l_hpc2n", "HPC2N-2002-2.2-cln.swf.gz", 240),
    *(ArchivedLog(f"das2-fs{i}", "l_das2", f"DAS2-fs{i}-2003-1.swf.gz") for i in range(5)),
    ArchivedLog("sdsc-datastar", "l_sdsc_ds", "SDSC-DS-2004-2.1-cln.swf.gz"),
    ArchivedLog(
        "lpc-egee", "l_lpc", "LPC-EGEE-2004-1.2-cln.swf.gz", notes="Serial jobs of a grid."
    ),
    ArchivedLog("lcg", "l_lcg", "LCG-2005-1.swf.gz", notes="A grid, not one machine."),
    ArchivedLog("sharcnet", "l_sharcnet", "SHARCNET-2005-2.swf.gz"),
    ArchivedLog("sharcnet-whale", "l_sharcnet", "SHARCNET-Whale-2006-2.swf.gz"),
    ArchivedLog("llnl-ubgl", "l_llnl_ubgl", "LLNL-uBGL-2006-2.swf.gz"),
    ArchivedLog(
        "llnl-atlas", "l_llnl_atlas", "LLNL-Atlas-2006-2.1-cln.swf.gz", 9216, notes=_NO_ARRIVALS
    ),
    ArchivedLog(
        "llnl-thunder",
        "l_llnl_thunder",
        "LLNL-Thunder-2007-1.1-cln.swf.gz",
        4096,
        notes=_NO_ARRIVALS,
    ),
    ArchivedLog("ciemat-euler", "l_ciemat_euler", "CIEMAT-Euler-2008-1.swf.gz"),
    ArchivedLog(
        "anl-intrepid",
        "l_anl_int",
        "ANL-Intrepid-2009-1.swf.gz",
        163_840,
        notes="A Blue Gene/P: jobs get partitions of 256 cores at least.",
    ),
    ArchivedLog("metacentrum", "l_metacentrum", "METACENTRUM-2009-2.swf.gz"),
    ArchivedLog("pik-iplex", "l_pik_iplex", "PIK-IPLEX-2009-1.swf.gz"),
    ArchivedLog(
        "ricc",
        "l_ricc",
        "RICC-2010-2.swf.gz",
        8192,
        notes="Memory comes with cores: a job that needs much of it asks for more cores.",
    ),
    ArchivedLog(
        "cea-curie",
        "l_cea_curie",
        "CEA-Curie-2011-2.1-cln.swf.gz",
        93_312,
        "b732a04aea71e2f154c8feee580be549d0bba1462bc91ec581944cb3dd6d442d",
        "Read it with processors=allocated: requested ones are often not known. 17 286 of 312 826 "
        "jobs never ran. The thin nodes alone have 80 640 cores.",
    ),
    *(
        ArchivedLog(
            f"intel-netbatch-{pool.lower()}",
            "l_intel_netbatch",
            f"Intel-Netbatch{pool}-2012-1.swf.gz",
        )
        for pool in "ABCD"
    ),
    ArchivedLog("metacentrum-2013", "l_metacentrum2", "METACENTRUM-2013-3.swf.gz"),
    ArchivedLog(
        "unilu-gaia",
        "l_unilu_gaia",
        "UniLu-Gaia-2014-2.swf.gz",
        2004,
        notes="151 nodes of several kinds.",
    ),
    ArchivedLog("kit-fh2", "l_kit_fh2", "KIT-FH2-2016-1.swf.gz"),
)
