"""Keys that Slurm 22.05 knows, so that a misspelt one is told apart from one that is not used."""

from __future__ import annotations

from difflib import get_close_matches

_KEYS = """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost
    AccountingStorageHost AccountingStorageParameters AccountingStoragePass
    AccountingStoragePort AccountingStorageTRES AccountingStorageType AccountingStorageUser
    AccountingStoreFlags AcctGatherEnergyType AcctGatherFilesystemType
    AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage
    AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController
    BatchStartTimeout BcastExclude BcastParameters BurstBufferType CliFilterPlugins ClusterName
    CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef
    CpuFreqGovernors CredType DebugFlags DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode
    DependencyParameters DisableRootJobs EioTimeout EnforcePartLimits Epilog EpilogMsgTime
    EpilogSlurmctld ExtSensorsFreq ExtSensorsType FairShareDampeningFactor FederationParameters
    FirstJobId GetEnvTimeout GresTypes GroupUpdateForce GroupUpdateTime HealthCheckInterval
    HealthCheckNodeState HealthCheckProgram InactiveLimit InteractiveStepOptions
    JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc
    JobCompParams JobCompPass JobCompPort JobCompType JobCompUser JobContainerType
    JobCredentialPrivateKey JobCredentialPublicCertificate JobFileAppend JobRequeue
    JobSubmitPlugins KillOnBadExit KillWait LaunchParameters LaunchType Licenses LogTimeFormat
    MailDomain MailProg MaxArraySize MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode
    MaxNodeCount MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin MessageTimeout MinJobAge
    MpiDefault MpiParams NodeFeaturesPlugins OverTimeLimit PluginDir PlugStackConfig
    PowerParameters PowerPlugin PreemptExemptTime PreemptMode PreemptType PrEpParameters
    PrEpPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags
    PriorityMaxAge PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin
    PriorityType PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc
    PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS
    PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout PrologFlags
    PrologSlurmctld PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept
    RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram
    ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService RoutePlugin
    SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters SelectType
    SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldLogFile
    SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
    SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout
    SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir
    SlurmdSyslogDebug SlurmdTimeout SlurmdUser SlurmSchedLogFile SlurmSchedLogLevel SlurmUser
    SrunEpilog SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts
    SuspendProgram SuspendRate SuspendTime SuspendTimeout SwitchParameters SwitchType TaskEpilog
    TaskPlugin TaskPluginParam TaskProlog TCPTimeout TmpFS TopologyParam TopologyPlugin
    TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout UsePAM VSizeFactor WaitTime
    X11Parameters
"""
_SCHEDULER_PARAMETERS = """
    allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_busy_nodes
    bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve
    bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part bf_max_job_start
    bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time bf_min_age_reserve
    bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution
    bf_running_job_reserve bf_window bf_window_linear bf_yield_interval bf_yield_sleep
    build_queue_timeout correspond_after_task_cnt default_queue_depth defer delay_boot
    disable_hetjob_steps disable_job_shrink enable_hetjob_steps enable_user_top Ignore_NUMA
    ignore_prefer_validation max_array_tasks max_rpc_cnt max_sched_time max_script_size
    max_switch_wait no_backup_scheduling no_env_cache nohold_on_prolog_fail pack_serial_at_end
    partition_job_depth preempt_reorder_count preempt_strict_order preempt_youngest_first
    reduce_completing_frag requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes
    sched_interval sched_max_job_start sched_min_interval spec_cores_first step_retry_count
    step_retry_time whole_hetjob
"""
_BY_LOWER = {key.lower(): key for key in (_KEYS + _SCHEDULER_PARAMETERS).split()}


def is_slurms(key: str) -> bool:
    """Whether slurm.conf may have a key, or SchedulerParameters an option, of that name."""
    return key.lower() in _BY_LOWER


def did_you_mean(key: str) -> str:
    """Return the end of a sentence that names what was perhaps meant; "" if nothing is near."""
    near = get_close_matches(key.lower().rpartition(" ")[2], _BY_LOWER, n=1, cutoff=0.8)
    return f" (did you mean {_BY_LOWER[near[0]]}?)" if near else ""
