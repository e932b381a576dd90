#pragma once
/// A host inside of other JSON: a file of hosts, or a device.
#include "devices/host.h"
#include "ir/support/json.h"

namespace perfc {

/// An object with a host's fields, at `path` of its file; what is wrong is reported.
Host read_host(const json::Element&, const std::string& path, Diagnostics&);

}  // namespace perfc
