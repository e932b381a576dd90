#include "python/extension/array.h"

#include <bit>

namespace perfc::python {
namespace {

static_assert(std::endian::native == std::endian::little, "the typestrings say so");

PyObject* array_type = nullptr;

PyObject* array_interface(PyObject* self, void*) {
  return guarded([&] {
    const Array& a = held<Array>(self);
    Ref shape(PyTuple_New(static_cast<Py_ssize_t>(a.shape.size())));
    for (std::size_t d = 0; d < a.shape.size(); ++d)
      check(PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(d), PyLong_FromSsize_t(a.shape[d])));
    static const char kEmpty = 0;  // an empty vector's pointer may be null, which NumPy takes for "not said"
    const void* data = a.data ? a.data : &kEmpty;
    Ref dict(PyDict_New());
    set(dict, "version", std::int32_t{3});
    set(dict, "typestr", a.typestr);
    set(dict, "shape", std::move(shape));
    set(dict, "data", tuple_of(Ref(PyLong_FromVoidPtr(const_cast<void*>(data))), true));
    return dict;
  });
}

PyGetSetDef kArrayProperties[] = {{"__array_interface__", array_interface, nullptr, "For NumPy.", nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot kArraySlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate<Array>)},
                             {Py_tp_new, reinterpret_cast<void*>(no_constructor)},
                             {Py_tp_getset, kArrayProperties},
                             {0, nullptr}};
PyType_Spec kArraySpec = {"perfc._perfc.Array", sizeof(Holder<Array>), 0, Py_TPFLAGS_DEFAULT, kArraySlots};

}  // namespace

Ref object(Array array) { return make_holder(array_type, std::move(array)); }

void add_arrays(PyObject* module) { array_type = add_type(module, kArraySpec, "Array"); }

}  // namespace perfc::python
