#pragma once
/// Devices: what the cost model knows of the hardware. Data, not code:
/// `data/devices.json`, in the same format as `--device-file`.
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "devices/host.h"
#include "devices/stack.h"
#include "ir/support/diagnostics.h"

namespace perfc {

/// Arithmetic the user asks for; docs/devices.md says what each one runs.
enum class Precision {
  Fp32,  ///< no TF32 anywhere
  Tf32,  ///< float32 data; products and convolutions may use TF32
  Amp,   ///< autocast
  Fp16,
  Bf16,
  Int8,
  Fp8,      ///< dense layers in float8 (e4m3), all else as Bf16
  Default,  ///< PyTorch untouched since 1.12: float32 data, TF32 in convolutions, not in products
};
std::string_view name(Precision);
inline constexpr std::array kPrecisions{Precision::Fp32, Precision::Tf32, Precision::Amp, Precision::Fp16,
                                        Precision::Bf16, Precision::Int8, Precision::Fp8, Precision::Default};
Result<Precision> find_precision(std::string_view);
/// Whether it asks for dense layers in 8 bits, and for all else in bfloat16.
constexpr bool quantises_layers(Precision p) { return p == Precision::Int8 || p == Precision::Fp8; }

/// One MIG profile of a device. Fractions of the whole: sms / Device::sms and
/// memory_slices / 8.
struct MigProfile {
  std::string name;        ///< "1g.5gb"
  int compute_slices = 0;  ///< of 7
  int memory_slices = 0;   ///< of 8
  int sms = 0;
  double memory_mib = 0;
  int max_instances = 0;

  /// Where an instance may begin and how long it is, in the slots that `nvidia-smi mig -lgipp` counts in: {0,4}:4 is
  /// starts 0 and 4, size 4. Instances of a GPU share no slot. Empty: not known, so that no partition can be planned.
  std::vector<int> starts;
  int size = 0;
  int ofa = 0;            ///< optical flow accelerators: a GPU has one, which profiles with media extensions (+me) take
  bool graphics = false;  ///< +gfx: graphics APIs run in it
};

/// Of a device's figures by dtype or term (`vector_tflops`, `efficiency`, …).
inline double figure(const std::map<std::string, double>& figures, std::string_view key, double otherwise = 0) {
  const auto at = figures.find(std::string(key));
  return at == figures.end() ? otherwise : at->second;
}

struct Device {
  std::string name;   ///< "a100-40gb"; slices: "a100-40gb:1g.5gb"
  std::string title;  ///< "NVIDIA A100-SXM4-40GB"
  std::vector<std::string> aliases;
  std::string kind;          ///< "gpu" or "cpu"
  std::string architecture;  ///< "ampere"
  std::string memory_type;   ///< "hbm", "gddr", "lpddr" or "ddr"; empty: not said
  std::string parent;        ///< of a MIG slice, the whole device's name
  std::string mig_profile;   ///< of a MIG slice

  /// Peak rates in TFLOP/s (2 FLOPs per MAC), by execution unit and dtype.
  std::map<std::string, double> vector_tflops;  ///< "float32", "float16", …
  std::map<std::string, double> matrix_tflops;  ///< tensor cores: "tf32", "float16", "bfloat16", "int8", …
  double bandwidth_gb_s = 0;
  double core_bandwidth_gb_s = 0;  ///< of a CPU: what one core draws of it; 0: all
  /// Share of `bandwidth_gb_s` that streams reach by the kind of its memory, as kernels show that others timed: the
  /// default of `efficiency`'s "bandwidth"; 0: not said.
  double streams = 0;
  double l2_mib = 0;
  int sms = 0;
  double boost_clock_mhz = 0;
  double exponentials = 16;  ///< per clock of a multiprocessor
  bool grace = false;        ///< a Grace CPU launches its kernels, over NVLink-C2C
  double memory_mib = 0;
  double tdp_w = 0;
  double idle_w = 0;

  Host host;                ///< what dispatches to it
  bool host_given = false;  ///< chosen with --host in place of the device's own
  Stack stack;              ///< what runs on it

  /// Calibratable terms (docs/devices.md; `perfc devices NAME` prints them).
  double launch_us = 0;                      ///< device time per kernel beyond the roofline
  std::map<std::string, double> efficiency;  ///< share of peak by kernel category
  /// Of what lies between idle power and the TDP: what kernels draw that do next to nothing, and what streams at the
  /// full bandwidth draw (whitebox/price/power.h). Fitted by studies/fit_power.py.
  double active_power = 0.31, memory_power = 0.7;

  /// How many measurements on the device the terms were fitted to by
  /// `perfc devices calibrate`; 0: none.
  int calibrated_labels = 0;

  /// How far measured times lie from the whitebox's: 90 % of them within this
  /// factor either way, by precision ("amp"). Empty: never measured.
  std::map<std::string, double> interval;

  std::vector<MigProfile> mig;

  /// The name that measurements belong to: of a slice, the whole device's.
  const std::string& whole() const { return parent.empty() ? name : parent; }
};

class DeviceTable {
 public:
  /// The devices built into the program.
  static const DeviceTable& builtin();
  /// Parses the JSON text of a device file; every wrong field is named.
  static Result<DeviceTable> parse(std::string_view json, Diagnostics&);

  const std::vector<Device>& all() const { return devices_; }
  /// By name, alias or title, case-insensitive; "NAME:PROFILE" makes a slice.
  /// Unknown names are an error that suggests the nearest.
  Result<Device> find(std::string_view name, Diagnostics&) const;
  /// Devices of `other` are found before those already here.
  void add(DeviceTable other);

 private:
  static Result<DeviceTable> parse(std::string_view json, const std::map<std::string, Device>& defaults, Diagnostics&);
  std::vector<Device> devices_;
  std::map<std::string, Device> defaults_;  ///< by kind; those of the built-in table serve user files too
};

/// Threads that the device holds at once (CUDA C++ Programming Guide, "Compute Capabilities").
double resident_threads(const Device&);

/// Of AMD's compute architectures: "cdna1", "cdna2", …
inline bool is_amd(const Device& d) { return d.architecture.starts_with("cdna"); }

/// A CPU on which a run has so many threads, each on a core of its own.
Device on_threads(const Device&, int threads);

/// The slice of a device that a MIG profile makes.
Device slice(const Device&, const MigProfile&);

/// A GPU instance that exists. Where on the GPU it lies does not stand in the XML.
struct HostInstance {
  MigProfile profile;                  ///< with the memory that the driver says
  int id = -1;                         ///< GPU instance ID; −1: not said
  std::vector<int> compute;            ///< IDs of its compute instances
  std::vector<std::string> processes;  ///< "4711 python3", which run in it
};

/// What `nvidia-smi -q -x` says of a host.
struct HostGpu {
  Device device;  ///< table row if known, else built from the XML
  bool in_table = false;
  double free_mib = 0;
  std::string mig_mode;  ///< "Enabled", "Disabled", "N/A"
  std::vector<HostInstance> instances;
};
Result<std::vector<HostGpu>> read_nvidia_smi(std::string_view xml, const DeviceTable&, Diagnostics&);

}  // namespace perfc
