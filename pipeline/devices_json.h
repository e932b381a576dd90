#pragma once
/// Devices, hosts and stacks as JSON, in the format of device files (docs/devices.md).
#include <string>
#include <vector>

#include "devices/device.h"

namespace perfc {

std::string devices_json(const std::vector<Device>&);  ///< schema perfc.devices/1
std::string hosts_json(const std::vector<Host>&);      ///< schema perfc.hosts/1
std::string stacks_json(const std::vector<Stack>&);    ///< schema perfc.stacks/1

}  // namespace perfc
