/// perfc._perfc.devices: the built-in lists, and devices by name.
#include "pipeline/devices_json.h"
#include "python/extension/arguments.h"

namespace perfc::python {

PyObject* devices(PyObject*, PyObject* arguments) {
  return guarded([&] {
    const char* kind = nullptr;
    PyObject* options = nullptr;
    if (!PyArg_ParseTuple(arguments, "sO!", &kind, &PyDict_Type, &options)) throw Raised{};
    PredictOptions o;
    Command command;
    add_run_options(command, o);
    read_options(options, command);
    const std::string_view list = kind;
    if (list == "hosts") return object(hosts_json(builtin_hosts()));
    if (list == "stacks") return object(stacks_json(builtin_stacks()));
    Request request = request_of(o, Batches::One);
    if (!o.devices.empty() || !o.smi_file.empty()) return object(devices_json(devices_for(o, request)));
    std::vector<Device> all = DeviceTable::builtin().all();
    Diagnostics diags;
    if (!set_surroundings(request, all, diags)) raise(Wrong::Usage, diags);
    return object(devices_json(all));
  });
}

}  // namespace perfc::python
