#include "counters/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

namespace perfc {
namespace {

constexpr Quantity kQuantities[] = {
    // CPU instructions
    {"instructions",        "1",   "instructions retired"},
    {"integer",             "1",   "integer instructions"},
    {"float",               "1",   "floating-point instructions"},
    {"float.scalar",        "1",   "scalar floating-point instructions"},
    {"float.scalar32",      "1",   "scalar floating-point instructions, single precision"},
    {"float.scalar64",      "1",   "scalar floating-point instructions, double precision"},
    {"float.vector",        "1",   "vector floating-point instructions"},
    {"float.128x32",        "1",   "128-bit floating-point instructions, single precision"},
    {"float.128x64",        "1",   "128-bit floating-point instructions, double precision"},
    {"float.256x32",        "1",   "256-bit floating-point instructions, single precision"},
    {"float.256x64",        "1",   "256-bit floating-point instructions, double precision"},
    {"float.512x32",        "1",   "512-bit floating-point instructions, single precision"},
    {"float.512x64",        "1",   "512-bit floating-point instructions, double precision"},
    {"simd",                "1",   "SIMD instructions"},
    {"memory",              "1",   "loads and stores"},
    {"loads",               "1",   "loads"},
    {"stores",              "1",   "stores"},
    {"branches",            "1",   "branches"},
    {"branch_misses",       "1",   "mispredicted branches"},
    // caches
    {"l1.accesses",         "1",   "accesses of the L1 data cache"},
    {"l1.misses",           "1",   "misses of the L1 data cache"},
    {"l1.loads",            "1",   "loads that ask the L1 data cache"},
    {"l1.load_hits",        "1",   "loads that hit the L1 data cache"},
    {"l1.load_misses",      "1",   "loads that miss the L1 data cache"},
    {"l2.accesses",         "1",   "accesses of the L2 cache"},
    {"l2.hits",             "1",   "hits of the L2 cache"},
    {"l2.misses",           "1",   "misses of the L2 cache"},
    {"llc.accesses",        "1",   "accesses of the last cache"},
    {"llc.hits",            "1",   "hits of the last cache"},
    {"llc.misses",          "1",   "misses of the last cache"},
    // GPU instructions
    {"warp.instructions",   "1",   "instructions that warps executed"},
    {"warp.memory",         "1",   "loads and stores that warps executed"},
    {"warp.global_loads",   "1",   "loads of global memory that warps executed"},
    {"warp.global_stores",  "1",   "stores to global memory that warps executed"},
    {"warp.local_loads",    "1",   "loads of local memory that warps executed"},
    {"warp.local_stores",   "1",   "stores to local memory that warps executed"},
    {"warp.shared_loads",   "1",   "loads of shared memory that warps executed"},
    {"warp.shared_stores",  "1",   "stores to shared memory that warps executed"},
    {"warp.control",        "1",   "control-flow instructions that warps executed"},
    {"thread.instructions", "1",   "instructions that GPU threads executed"},
    {"thread.integer",      "1",   "integer instructions of GPU threads"},
    {"thread.float16",      "1",   "half-precision instructions of GPU threads"},
    {"thread.float32",      "1",   "single-precision instructions of GPU threads"},
    {"thread.float64",      "1",   "double-precision instructions of GPU threads"},
    {"thread.memory",       "1",   "loads and stores of GPU threads"},
    {"thread.control",      "1",   "control-flow instructions of GPU threads"},
    {"thread.conversion",   "1",   "conversions of GPU threads"},
    {"thread.exchange",     "1",   "exchanges between GPU threads"},
    {"thread.other",        "1",   "other instructions of GPU threads"},
    // GPU caches
    {"gpu.l2_reads",        "1",   "sectors read from the GPU's L2 cache"},
    {"gpu.l2_hits",         "1",   "sectors that hit the GPU's L2 cache"},
    {"gpu.l2_misses",       "1",   "sectors that miss the GPU's L2 cache"},
    {"gpu.l2_hit_share",    "1",   "share of hits in the GPU's L2 cache"},
    {"gpu.l1_hit_share",    "1",   "share of hits in the GPU's L1 cache"},
    // host and device
    {"to_gpu.bytes",        "B",   "bytes copied from host to device"},
    {"to_gpu.seconds",      "s",   "time of copies from host to device"},
    {"to_gpu.rate",         "B/s", "host memory read by the device"},
    {"from_gpu.bytes",      "B",   "bytes copied from device to host"},
    {"from_gpu.seconds",    "s",   "time of copies from device to host"},
    {"from_gpu.rate",       "B/s", "host memory written by the device"},
    {"copy.seconds",        "s",   "time of copies in any direction"},
    {"gpu.seconds",         "s",   "time of kernels"},
    {"blocks",              "1",   "thread blocks launched"},
    {"streams",             "1",   "GPU streams"},
    // operating system
    {"threads",             "1",   "CPU threads"},
    {"page_faults",         "1",   "page faults"},
    {"page_faults.minor",   "1",   "page faults without I/O"},
    {"page_faults.major",   "1",   "page faults with I/O"},
    {"page_levels",         "1",   "levels of the page table"},
    {"io.read",             "B",   "bytes read from files"},
    {"io.written",          "B",   "bytes written to files"},
    {"files_opened",        "1",   "file descriptors opened"},
    // columns of Table I that a table of a user's own holds ready
    {"given.integer_ratio",        "1",   "integer_ratio"},
    {"given.float_ratio",          "1",   "float_ratio"},
    {"given.memory_ratio",         "1",   "memory_ratio"},
    {"given.control_ratio",        "1",   "control_ratio"},
    {"given.independent_ratio",    "1",   "independent_ratio"},
    {"given.cache_miss_ratio",     "1",   "cache_miss_ratio"},
    {"given.branch_miss_ratio",    "1",   "branch_miss_ratio"},
    {"given.warp_blocks",          "1",   "warp_blocks"},
    {"given.io_bytes",             "B",   "io_bytes"},
    // beyond Table I: features of learned predictors
    {"seconds",             "s",   "wall-clock time"},
    {"cpu_seconds",         "s",   "CPU time"},
    {"cycles",              "1",   "CPU cycles"},
    {"topdown.retiring",           "1", "share of pipeline slots that retire (Yasin, ISPASS 2014)"},
    {"topdown.frontend_bound",     "1", "share of slots that wait for instructions"},
    {"topdown.backend_bound",      "1", "share of slots that wait for data or units"},
    {"topdown.bad_speculation",    "1", "share of slots of wrong paths"},
    {"topdown.branch_mispredict",  "1", "share of slots lost to mispredicted branches"},
    {"topdown.machine_clears",     "1", "share of slots lost to machine clears"},
    {"topdown.frontend_latency",   "1", "front end: no instruction arrives"},
    {"topdown.frontend_bandwidth", "1", "front end: too few instructions arrive"},
    {"topdown.memory_bound",       "1", "back end: waits for memory"},
    {"topdown.core_bound",         "1", "back end: waits for units"},
    {"topdown.ext_memory_bound",   "1", "memory: waits for DRAM"},
    {"topdown.l1_bound",           "1", "memory: waits for L1"},
    {"topdown.l2_bound",           "1", "memory: waits for L2"},
    {"topdown.l3_bound",           "1", "memory: waits for L3"},
};

/// Sources: Intel SDM 3B ch. 20 and perfmon's event lists; AMD PPR for family
/// 17h; Arm ARM D13 (PMU events); POWER9 PMU user guide; perf-stat(1), perf-list(1);
/// PAPI_presets(3) and papi's appio component; CUPTI metrics of compute
/// capability 3–7; Nsight Compute's metrics and its "nvprof metric comparison";
/// HPCToolkit manual ch. 8; Caliper's services topdown, io and papi; Johnston et al.,
/// "AIWC" (2018). nvprof's event thread_inst_executed is left out: unlike the metrics it
/// samples some of the multiprocessors.
constexpr CounterName kNames[] = {
    // family       name                                                   quantity        factor  unit
    {"papi",       "PAPI_TOT_INS",                                         "instructions"},
    {"intel",      "INST_RETIRED.ANY",                                     "instructions"},
    {"intel",      "INST_RETIRED.ANY_P",                                   "instructions"},
    {"amd",        "ex_ret_instr",                                         "instructions"},
    {"amd",        "RETIRED_INSTRUCTIONS",                                 "instructions"},
    {"arm",        "INST_RETIRED",                                         "instructions"},
    {"power",      "PM_INST_CMPL",                                         "instructions"},
    {"power",      "PM_RUN_INST_CMPL",                                     "instructions"},
    {"perf",       "instructions",                                         "instructions"},

    {"papi",       "PAPI_INT_INS",                                         "integer"},
    {"arm",        "DP_SPEC",                                              "integer"},
    {"power",      "PM_FXU_FIN",                                           "integer"},

    {"papi",       "PAPI_FP_INS",                                          "float"},
    {"arm",        "VFP_SPEC",                                             "float"},
    {"intel",      "FP_ARITH_INST_RETIRED.SCALAR",                         "float.scalar"},
    {"intel",      "FP_ARITH_INST_RETIRED.VECTOR",                         "float.vector"},
    {"intel",      "FP_ARITH_INST_RETIRED.SCALAR_SINGLE",                  "float.scalar32"},
    {"intel",      "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE",                  "float.scalar64"},
    {"intel",      "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE",             "float.128x32"},
    {"intel",      "FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE",             "float.128x64"},
    {"intel",      "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE",             "float.256x32"},
    {"intel",      "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",             "float.256x64"},
    {"intel",      "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE",             "float.512x32"},
    {"intel",      "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",             "float.512x64"},

    {"papi",       "PAPI_VEC_INS",                                         "simd"},
    {"arm",        "ASE_SPEC",                                             "simd"},

    {"papi",       "PAPI_LST_INS",                                         "memory"},
    {"intel",      "MEM_INST_RETIRED.ANY",                                 "memory"},
    {"intel",      "MEM_UOPS_RETIRED.ALL",                                 "memory"},
    {"arm",        "MEM_ACCESS",                                           "memory"},
    {"papi",       "PAPI_LD_INS",                                          "loads"},
    {"intel",      "MEM_INST_RETIRED.ALL_LOADS",                           "loads"},
    {"intel",      "MEM_UOPS_RETIRED.ALL_LOADS",                           "loads"},
    {"amd",        "ls_dispatch.ld_dispatch",                              "loads"},
    {"arm",        "LD_RETIRED",                                           "loads"},
    {"arm",        "LD_SPEC",                                              "loads"},
    {"power",      "PM_LD_CMPL",                                           "loads"},
    {"perf",       "L1-dcache-loads",                                      "loads"},
    {"papi",       "PAPI_SR_INS",                                          "stores"},
    {"intel",      "MEM_INST_RETIRED.ALL_STORES",                          "stores"},
    {"intel",      "MEM_UOPS_RETIRED.ALL_STORES",                          "stores"},
    {"amd",        "ls_dispatch.store_dispatch",                           "stores"},
    {"arm",        "ST_RETIRED",                                           "stores"},
    {"arm",        "ST_SPEC",                                              "stores"},
    {"power",      "PM_ST_CMPL",                                           "stores"},
    {"perf",       "L1-dcache-stores",                                     "stores"},

    {"papi",       "PAPI_BR_INS",                                          "branches"},
    {"intel",      "BR_INST_RETIRED.ALL_BRANCHES",                         "branches"},
    {"amd",        "ex_ret_brn",                                           "branches"},
    {"amd",        "RETIRED_BRANCH_INSTRUCTIONS",                          "branches"},
    {"arm",        "BR_RETIRED",                                           "branches"},
    {"power",      "PM_BR_CMPL",                                           "branches"},
    {"perf",       "branches",                                             "branches"},
    {"perf",       "branch-instructions",                                  "branches"},
    {"perf",       "branch-loads",                                         "branches"},
    {"papi",       "PAPI_BR_MSP",                                          "branch_misses"},
    {"intel",      "BR_MISP_RETIRED.ALL_BRANCHES",                         "branch_misses"},
    {"amd",        "ex_ret_brn_misp",                                      "branch_misses"},
    {"amd",        "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED",             "branch_misses"},
    {"arm",        "BR_MIS_PRED_RETIRED",                                  "branch_misses"},
    {"power",      "PM_BR_MPRED_CMPL",                                     "branch_misses"},
    {"perf",       "branch-misses",                                        "branch_misses"},
    {"perf",       "branch-load-misses",                                   "branch_misses"},

    {"papi",       "PAPI_L1_DCA",                                          "l1.accesses"},
    {"arm",        "L1D_CACHE",                                            "l1.accesses"},
    {"papi",       "PAPI_L1_DCM",                                          "l1.misses"},
    {"arm",        "L1D_CACHE_REFILL",                                     "l1.misses"},
    {"papi",       "PAPI_L1_LDM",                                          "l1.load_misses"},
    {"intel",      "MEM_LOAD_RETIRED.L1_HIT",                              "l1.load_hits"},
    {"intel",      "MEM_LOAD_UOPS_RETIRED.L1_HIT",                         "l1.load_hits"},
    {"intel",      "MEM_LOAD_RETIRED.L1_MISS",                             "l1.load_misses"},
    {"intel",      "MEM_LOAD_UOPS_RETIRED.L1_MISS",                        "l1.load_misses"},
    {"power",      "PM_LD_REF_L1",                                         "l1.loads"},
    {"power",      "PM_LD_MISS_L1",                                        "l1.load_misses"},
    {"perf",       "L1-dcache-load-misses",                                "l1.load_misses"},
    {"papi",       "PAPI_L2_DCA",                                          "l2.accesses"},
    {"papi",       "PAPI_L2_TCA",                                          "l2.accesses"},
    {"arm",        "L2D_CACHE",                                            "l2.accesses"},
    {"papi",       "PAPI_L2_DCH",                                          "l2.hits"},
    {"papi",       "PAPI_L2_TCH",                                          "l2.hits"},
    {"intel",      "MEM_LOAD_RETIRED.L2_HIT",                              "l2.hits"},
    {"papi",       "PAPI_L2_DCM",                                          "l2.misses"},
    {"papi",       "PAPI_L2_TCM",                                          "l2.misses"},
    {"intel",      "MEM_LOAD_RETIRED.L2_MISS",                             "l2.misses"},
    {"arm",        "L2D_CACHE_REFILL",                                     "l2.misses"},
    {"papi",       "PAPI_L3_TCA",                                          "llc.accesses"},
    {"intel",      "LONGEST_LAT_CACHE.REFERENCE",                          "llc.accesses"},
    {"perf",       "LLC-loads",                                            "llc.accesses"},
    {"perf",       "cache-references",                                     "llc.accesses"},
    {"intel",      "MEM_LOAD_RETIRED.L3_HIT",                              "llc.hits"},
    {"intel",      "MEM_LOAD_UOPS_RETIRED.L3_HIT",                         "llc.hits"},
    {"papi",       "PAPI_L3_TCM",                                          "llc.misses"},
    {"intel",      "LONGEST_LAT_CACHE.MISS",                               "llc.misses"},
    {"intel",      "MEM_LOAD_RETIRED.L3_MISS",                             "llc.misses"},
    {"intel",      "MEM_LOAD_UOPS_RETIRED.L3_MISS",                        "llc.misses"},
    {"perf",       "LLC-load-misses",                                      "llc.misses"},
    {"perf",       "cache-misses",                                         "llc.misses"},

    {"nvprof",     "inst_executed",                                        "warp.instructions"},
    {"nvprof",     "Instructions Executed",                                "warp.instructions"},
    {"ncu",        "smsp__inst_executed.sum",                              "warp.instructions"},
    {"ncu",        "sm__inst_executed.sum",                                "warp.instructions"},
    {"nvprof",     "ldst_executed",                                        "warp.memory"},
    {"nvprof",     "Executed Load/Store Instructions",                     "warp.memory"},
    {"ncu",        "smsp__inst_executed_op_global_ld.sum",                 "warp.global_loads"},
    {"ncu",        "smsp__inst_executed_op_global_st.sum",                 "warp.global_stores"},
    {"ncu",        "smsp__inst_executed_op_local_ld.sum",                  "warp.local_loads"},
    {"ncu",        "smsp__inst_executed_op_local_st.sum",                  "warp.local_stores"},
    {"ncu",        "smsp__inst_executed_op_shared_ld.sum",                 "warp.shared_loads"},
    {"ncu",        "smsp__inst_executed_op_shared_st.sum",                 "warp.shared_stores"},
    {"nvprof",     "cf_executed",                                          "warp.control"},
    {"nvprof",     "Executed Control-Flow Instructions",                   "warp.control"},
    {"ncu",        "smsp__inst_executed_op_branch.sum",                    "warp.control"},
    {"ncu",        "smsp__sass_thread_inst_executed.sum",                  "thread.instructions"},
    {"ncu",        "sm__sass_thread_inst_executed.sum",                    "thread.instructions"},
    {"ncu",        "smsp__thread_inst_executed.sum",                       "thread.instructions"},
    {"nvprof",     "inst_integer",                                         "thread.integer"},
    {"nvprof",     "Integer Instructions",                                 "thread.integer"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "thread.integer"},
    {"nvprof",     "inst_fp_16",                                           "thread.float16"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_fp16_pred_on.sum",  "thread.float16"},
    {"nvprof",     "inst_fp_32",                                           "thread.float32"},
    {"nvprof",     "FP Instructions(Single)",                              "thread.float32"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",  "thread.float32"},
    {"nvprof",     "inst_fp_64",                                           "thread.float64"},
    {"nvprof",     "FP Instructions(Double)",                              "thread.float64"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",  "thread.float64"},
    {"nvprof",     "inst_compute_ld_st",                                   "thread.memory"},
    {"nvprof",     "Load/Store Instructions",                              "thread.memory"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "thread.memory"},
    {"nvprof",     "inst_control",                                         "thread.control"},
    {"nvprof",     "Control-Flow Instructions",                            "thread.control"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_control_pred_on.sum", "thread.control"},
    {"nvprof",     "inst_bit_convert",                                     "thread.conversion"},
    {"nvprof",     "Bit-Convert Instructions",                             "thread.conversion"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "thread.conversion"},
    {"nvprof",     "inst_inter_thread_communication",                      "thread.exchange"},
    {"nvprof",     "Inter-Thread Instructions",                            "thread.exchange"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum", "thread.exchange"},
    {"nvprof",     "inst_misc",                                            "thread.other"},
    {"nvprof",     "Misc Instructions",                                    "thread.other"},
    {"ncu",        "smsp__sass_thread_inst_executed_op_misc_pred_on.sum",  "thread.other"},

    {"ncu",        "lts__t_sectors_op_read.sum",                           "gpu.l2_reads"},
    {"ncu",        "lts__t_sectors_lookup_hit.sum",                        "gpu.l2_hits"},
    {"ncu",        "lts__t_sectors_lookup_miss.sum",                       "gpu.l2_misses"},
    {"ncu",        "lts__t_sector_hit_rate.pct",                           "gpu.l2_hit_share", 1, "%"},
    {"ncu",        "Memory Workload Analysis: L2 Hit Rate",                "gpu.l2_hit_share", 1, "%"},
    {"nvprof",     "l2_tex_hit_rate",                                      "gpu.l2_hit_share", 1, "%"},
    {"nvprof",     "l2_l1_read_hit_rate",                                  "gpu.l2_hit_share", 1, "%"},
    {"nvprof",     "L2 Hit Rate (L1 Reads)",                               "gpu.l2_hit_share", 1, "%"},
    {"ncu",        "l1tex__t_sector_hit_rate.pct",                         "gpu.l1_hit_share", 1, "%"},
    {"ncu",        "Memory Workload Analysis: L1/TEX Hit Rate",            "gpu.l1_hit_share", 1, "%"},
    {"nvprof",     "tex_cache_hit_rate",                                   "gpu.l1_hit_share", 1, "%"},
    {"nvprof",     "global_hit_rate",                                      "gpu.l1_hit_share", 1, "%"},
    {"nvprof",     "l1_cache_global_hit_rate",                             "gpu.l1_hit_share", 1, "%"},

    {"hpctoolkit", "GXCOPY:H2D (B)",                                       "to_gpu.bytes"},
    {"nvprof",     "[CUDA memcpy HtoD] Size",                              "to_gpu.bytes"},
    {"ncu",        "lts__t_sectors_aperture_sysmem_op_read.sum",           "to_gpu.bytes", 32},
    {"nvprof",     "[CUDA memcpy HtoD] Duration",                          "to_gpu.seconds"},
    {"nvprof",     "sysmem_read_throughput",                               "to_gpu.rate", 1, "?"},
    {"nvprof",     "System Memory Read Throughput",                        "to_gpu.rate", 1, "?"},
    {"ncu",        "pcie__read_bytes.sum.per_second",                      "to_gpu.rate"},
    {"hpctoolkit", "GXCOPY:D2H (B)",                                       "from_gpu.bytes"},
    {"nvprof",     "[CUDA memcpy DtoH] Size",                              "from_gpu.bytes"},
    {"ncu",        "lts__t_sectors_aperture_sysmem_op_write.sum",          "from_gpu.bytes", 32},
    {"nvprof",     "[CUDA memcpy DtoH] Duration",                          "from_gpu.seconds"},
    {"nvprof",     "sysmem_write_throughput",                              "from_gpu.rate", 1, "?"},
    {"nvprof",     "System Memory Write Throughput",                       "from_gpu.rate", 1, "?"},
    {"ncu",        "pcie__write_bytes.sum.per_second",                     "from_gpu.rate"},
    {"hpctoolkit", "GXCOPY (sec)",                                         "copy.seconds"},
    {"hpctoolkit", "GKER (sec)",                                           "gpu.seconds"},
    {"ncu",        "gpu__time_duration.sum",                               "gpu.seconds"},
    {"ncu",        "GPU Speed Of Light: Duration",                         "gpu.seconds"},
    {"ncu",        "GPU Speed Of Light Throughput: Duration",              "gpu.seconds"},
    {"nvprof",     "Kernel Duration",                                      "gpu.seconds"},
    {"caliper",    "time (gpu)",                                           "gpu.seconds"},
    {"ncu",        "launch__grid_size",                                    "blocks"},
    {"ncu",        "Launch Statistics: Grid Size",                         "blocks"},
    {"hpctoolkit", "GKER:BLKS_ACUMU",                                      "blocks"},
    {"hpctoolkit", "GKER:BLKS",                                            "blocks"},
    {"nvprof",     "Grid Size",                                            "blocks"},
    {"nvprof",     "sm_cta_launched",                                      "blocks"},
    {"perfc",      "profiled streams",                                     "streams"},

    {"perfc",      "profiled threads",                                     "threads"},
    {"perf",       "page-faults",                                          "page_faults"},
    {"perf",       "faults",                                               "page_faults"},
    {"perf",       "minor-faults",                                         "page_faults.minor"},
    {"perf",       "major-faults",                                         "page_faults.major"},
    {"hpctoolkit", "IO Bytes Read",                                        "io.read"},
    {"hpctoolkit", "READ_BYTES",                                           "io.read"},
    {"papi",       "appio:::READ_BYTES",                                   "io.read"},
    {"caliper",    "io.bytes.read",                                        "io.read"},
    {"hpctoolkit", "IO Bytes Written",                                     "io.written"},
    {"hpctoolkit", "WRITE_BYTES",                                          "io.written"},
    {"papi",       "appio:::WRITE_BYTES",                                  "io.written"},
    {"caliper",    "io.bytes.written",                                     "io.written"},
    {"papi",       "appio:::OPEN_CALLS",                                   "files_opened"},
    {"papi",       "appio:::OPEN_FDS",                                     "files_opened"},
    {"perf",       "syscalls:sys_enter_openat",                            "files_opened"},

    {"aiwc",       "total_instruction_count",                              "instructions"},
    {"aiwc",       "workitems",                                            "threads"},
    {"perfc",      "instructions",                                         "instructions"},
    {"perfc",      "page_faults",                                          "page_faults"},
    {"perfc",      "threads",                                              "threads"},
    {"perfc",      "page_levels",                                          "page_levels"},
    {"perfc",      "cpu_to_gpu_bandwidth",                                 "to_gpu.rate"},
    {"perfc",      "gpu_to_cpu_bandwidth",                                 "from_gpu.rate"},
    {"perfc",      "file_descriptors",                                     "files_opened"},
    {"perfc",      "integer_ratio",                                        "given.integer_ratio"},
    {"perfc",      "float_ratio",                                          "given.float_ratio"},
    {"perfc",      "memory_ratio",                                         "given.memory_ratio"},
    {"perfc",      "control_ratio",                                        "given.control_ratio"},
    {"perfc",      "independent_ratio",                                    "given.independent_ratio"},
    {"perfc",      "cache_miss_ratio",                                     "given.cache_miss_ratio"},
    {"perfc",      "branch_miss_ratio",                                    "given.branch_miss_ratio"},
    {"perfc",      "warp_blocks",                                          "given.warp_blocks"},
    {"perfc",      "io_bytes",                                             "given.io_bytes"},

    {"papi",       "real_time_nsec",                                       "seconds", 1, "ns"},
    {"perf",       "duration_time",                                        "seconds", 1, "ns"},
    {"hpctoolkit", "REALTIME (sec)",                                       "seconds"},
    {"hpctoolkit", "WALLCLOCK (usec)",                                     "seconds"},
    {"caliper",    "time.duration.ns",                                     "seconds", 1, "ns"},
    {"caliper",    "time",                                                 "seconds"},
    {"hpctoolkit", "CPUTIME (sec)",                                        "cpu_seconds"},
    {"perf",       "task-clock",                                           "cpu_seconds", 1, "msec"},
    {"perf",       "cpu-clock",                                            "cpu_seconds", 1, "msec"},
    {"papi",       "PAPI_TOT_CYC",                                         "cycles"},
    {"intel",      "CPU_CLK_UNHALTED.THREAD",                              "cycles"},
    {"amd",        "ls_not_halted_cyc",                                    "cycles"},
    {"arm",        "CPU_CYCLES",                                           "cycles"},
    {"power",      "PM_CYC",                                               "cycles"},
    {"perf",       "cycles",                                               "cycles"},
    {"perf",       "cpu-cycles",                                           "cycles"},
    {"caliper",    "topdown.retiring",                                     "topdown.retiring"},
    {"caliper",    "topdown.frontend_bound",                               "topdown.frontend_bound"},
    {"caliper",    "topdown.backend_bound",                                "topdown.backend_bound"},
    {"caliper",    "topdown.bad_speculation",                              "topdown.bad_speculation"},
    {"caliper",    "topdown.branch_mispredict",                            "topdown.branch_mispredict"},
    {"caliper",    "topdown.machine_clears",                               "topdown.machine_clears"},
    {"caliper",    "topdown.frontend_latency",                             "topdown.frontend_latency"},
    {"caliper",    "topdown.frontend_bandwidth",                           "topdown.frontend_bandwidth"},
    {"caliper",    "topdown.memory_bound",                                 "topdown.memory_bound"},
    {"caliper",    "topdown.core_bound",                                   "topdown.core_bound"},
    {"caliper",    "topdown.ext_mem_bound",                                "topdown.ext_memory_bound"},
    {"caliper",    "topdown.ext_memory_bound",                             "topdown.ext_memory_bound"},
    {"caliper",    "topdown.l1_bound",                                     "topdown.l1_bound"},
    {"caliper",    "topdown.l2_bound",                                     "topdown.l2_bound"},
    {"caliper",    "topdown.l3_bound",                                     "topdown.l3_bound"},
};

struct Unit {
  std::string_view name;               ///< lower case, without a plural's "s"
  double factor;
};
constexpr Unit kUnits[] = {
    {"nsec", 1e-9}, {"nsecond", 1e-9}, {"n", 1e-9}, {"usec", 1e-6}, {"usecond", 1e-6}, {"u", 1e-6}, {"msec", 1e-3}, {"msecond", 1e-3}, {"m", 1e-3},
    {"%", 1e-2},
    {"kbyte", 1e3}, {"kb", 1e3}, {"mbyte", 1e6}, {"mb", 1e6}, {"gbyte", 1e9}, {"gb", 1e9}, {"tbyte", 1e12}, {"tb", 1e12},
    {"kib", 1024}, {"mib", 1048576}, {"gib", 1073741824},
    {"kinst", 1e3}, {"minst", 1e6}, {"ginst", 1e9}, {"ksector", 1e3}, {"msector", 1e6}, {"gsector", 1e9},
};

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool strip_prefix(std::string_view& s, std::string_view prefix) {
  if (!s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

bool strip_suffix(std::string_view& s, std::string_view suffix) {
  if (!s.ends_with(suffix)) return false;
  s.remove_suffix(suffix.size());
  return true;
}

/// "cpu_core/cycles/u" → "cycles".
std::string_view without_pmu(std::string_view s) {
  const std::size_t first = s.find('/'), last = s.rfind('/');
  if (first == std::string_view::npos || first == last || s.find(' ') != std::string_view::npos) return s;
  return s.substr(first + 1, last - first - 1);
}

/// "instructions:u" → "instructions".
std::string_view without_modifier(std::string_view s) {
  const std::size_t colon = s.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == s.size()) return s;
  const std::string_view modifier = s.substr(colon + 1);
  if (modifier.size() > 4 || modifier.find_first_not_of("ukhpPGHSDIeb") != std::string_view::npos) return s;
  return s.substr(0, colon);
}

/// A bracket at the end that holds a unit: where it opens; npos for none.
std::size_t unit_bracket(std::string_view s) {
  const std::size_t open = s.rfind(" (");
  if (open == std::string_view::npos || !s.ends_with(')')) return std::string_view::npos;
  const std::string_view inside = s.substr(open + 2, s.size() - open - 3);
  constexpr std::array kBrackets = {"sec", "usec", "nsec", "us", "ns", "B", "J"};
  return std::find(kBrackets.begin(), kBrackets.end(), inside) == kBrackets.end() ? std::string_view::npos : open;
}

std::string_view without_scope(std::string_view s) {
  if (!strip_suffix(s, " (I)")) strip_suffix(s, " (E)");
  strip_suffix(s, ":Sum");
  return s;
}

}  // namespace

std::span<const CounterName> counter_names() { return kNames; }
std::span<const Quantity> quantity_table() { return kQuantities; }

const Quantity* find_quantity(std::string_view name) {
  const auto found = std::find_if(std::begin(kQuantities), std::end(kQuantities), [&](const Quantity& q) { return q.name == name; });
  return found == std::end(kQuantities) ? nullptr : found;
}

std::string canonical_name(std::string_view name) {
  name = without_scope(name);
  if (const std::size_t open = unit_bracket(name); open != std::string_view::npos) name = name.substr(0, open);
  while (strip_prefix(name, "sum#") || strip_prefix(name, "inclusive#") || strip_prefix(name, "any#")) {
  }
  strip_prefix(name, "papi.");
  strip_prefix(name, "perf::");
  name = without_modifier(without_pmu(name));
  std::string out;
  for (const unsigned char c : name) {
    if (std::isalnum(c)) out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

const CounterName* find_counter_name(std::string_view name) {
  static const std::unordered_map<std::string, const CounterName*> index = [] {
    std::unordered_map<std::string, const CounterName*> out;
    for (const CounterName& n : kNames) out.try_emplace(canonical_name(n.name), &n);
    return out;
  }();
  const auto found = index.find(canonical_name(name));
  return found == index.end() ? nullptr : found->second;
}

std::string_view unit_in_name(std::string_view name) {
  name = without_scope(name);
  const std::size_t open = unit_bracket(name);
  return open == std::string_view::npos ? std::string_view() : name.substr(open + 2, name.size() - open - 3);
}

Combine combine_of(std::string_view name, std::string_view unit) {
  // Words of canonical names, '_' around them.
  constexpr std::string_view kShares[] = {
      "_per_", "_rate_", "_ratio_", "_percent", "_pct_", "_percentage_", "_efficiency_", "_utilization_", "_throughput_", "_bandwidth_", "_occupancy_",
      "_ipc_", "_overhead_", "_frequency_", "_limit_", "_avg_", "_average_", "_mean_", "_median_", "_min_", "_entropy_", "_topdown_", "_activity_",
      "_block_size_", "_sol_", "_bound_", "_share_"};
  const std::string words = "_" + canonical_name(name) + "_";
  if (words.find("_max_") != std::string::npos) return Combine::Max;
  const bool share = unit.find_first_of("%/") != std::string_view::npos ||
                     std::any_of(std::begin(kShares), std::end(kShares), [&](std::string_view w) { return words.find(w) != std::string::npos; });
  return share ? Combine::Mean : Combine::Sum;
}

double base_unit(std::string_view unit) {
  std::string name = lower(unit);
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) name.resize(slash);
  if (name.size() > 1 && name.ends_with('s')) name.pop_back();
  for (const Unit& u : kUnits) {
    if (u.name == name) return u.factor;
  }
  return 1;
}

}  // namespace perfc
