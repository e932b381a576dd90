#pragma once
/// CPython's stable ABI (PEP 384): one build serves every Python from 3.9 on. What is here keeps reference counts
/// right; a Python exception that is set travels through C++ as `Raised`, up to the border (`guarded`).
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc::python {

/// A Python exception is set.
struct Raised {};

/// A reference that is owned.
class Ref {
 public:
  Ref() = default;
  /// Takes the reference over; null: an exception is set, which is thrown on.
  explicit Ref(PyObject* owned) : object_(owned) {
    if (!object_) throw Raised{};
  }
  static Ref borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

inline void check(int result) {
  if (result < 0) throw Raised{};
}

// ---- C++ to Python. Text comes from files and need not be UTF-8: what is not is replaced.
inline Ref object(std::string_view text) {
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}
inline Ref object(const std::string& text) { return object(std::string_view(text)); }
inline Ref object(const char* text) { return object(std::string_view(text)); }
inline Ref object(double value) { return Ref(PyFloat_FromDouble(value)); }
inline Ref object(std::int64_t value) { return Ref(PyLong_FromLongLong(value)); }
inline Ref object(std::int32_t value) { return Ref(PyLong_FromLong(value)); }
inline Ref object(std::size_t value) { return Ref(PyLong_FromSize_t(value)); }
inline Ref object(bool value) { return Ref(PyBool_FromLong(value)); }
inline Ref object(Ref value) { return value; }
inline Ref none() { return Ref::borrowed(Py_None); }

template <class Items>
Ref list_of(const Items& items) {
  Ref list(PyList_New(0));
  for (const auto& item : items) check(PyList_Append(list.get(), object(item).get()));
  return list;
}
template <class... T>
Ref tuple_of(T&&... values) {
  Ref tuple(PyTuple_New(sizeof...(T)));
  Py_ssize_t place = 0;
  (check(PyTuple_SetItem(tuple.get(), place++, object(std::forward<T>(values)).release())), ...);
  return tuple;
}
template <class T>
void set(const Ref& dict, const char* key, T&& value) {
  check(PyDict_SetItemString(dict.get(), key, object(std::forward<T>(value)).get()));
}

// ---- Python to C++.
/// Of a str; as it is in the file system where it stems from there (PEP 383).
std::string text_of(PyObject*);
/// Of a bytes object.
std::string bytes_of(PyObject*);

// ---- Errors: perfc.errors has their classes.
enum class Wrong { Usage, Model };
/// Raises UsageError or ModelError with these diagnostics.
[[noreturn]] void raise(Wrong, const Diagnostics&);
/// A tuple (severity, file, line, column, node, offset, name, message, text) of each.
Ref diagnostics_list(const Diagnostics&);

/// Lets other Python threads run while it lives; nothing in it may touch Python.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// The border: no C++ exception crosses it.
template <class F>
PyObject* guarded(F&& body) noexcept {
  try {
    return body().release();
  } catch (const Raised&) { return nullptr; } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_Format(PyExc_RuntimeError, "perfc: a bug: %s", e.what());
    return nullptr;
  }
}

// ---- Types whose objects hold one C++ value, behind a pointer.
template <class T>
struct Holder {
  PyObject_HEAD T* held;
};
template <class T>
T& held(PyObject* self) {
  return *reinterpret_cast<Holder<T>*>(self)->held;
}
template <class T>
void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<Holder<T>*>(self)->held;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}
/// Objects are made by functions of the module only.
PyObject* no_constructor(PyTypeObject*, PyObject*, PyObject*);
template <class T>
Ref make_holder(PyObject* type, T value) {
  auto owned = std::make_unique<T>(std::move(value));
  auto* t = reinterpret_cast<PyTypeObject*>(type);
  Ref self(reinterpret_cast<allocfunc>(PyType_GetSlot(t, Py_tp_alloc))(t, 0));
  reinterpret_cast<Holder<T>*>(self.get())->held = owned.release();
  return self;
}
/// Makes the type and puts it into the module.
PyObject* add_type(PyObject* module, PyType_Spec&, const char* name);

// ---- The module's parts, a source each. `add_…`: what the module has of it.
void add_arrays(PyObject* module);
void add_reports(PyObject* module);
void add_graphs(PyObject* module);
void add_diffs(PyObject* module);
PyObject* predict(PyObject* self, PyObject* arguments);
PyObject* load(PyObject* self, PyObject* arguments);
PyObject* diff(PyObject* self, PyObject* arguments);
PyObject* sweep_plan(PyObject* self, PyObject* arguments);
PyObject* sweep_rows(PyObject* self, PyObject* arguments);
PyObject* devices(PyObject* self, PyObject* arguments);
PyObject* options(PyObject* self, PyObject*);
PyObject* format_of(PyObject* self, PyObject* arguments);

}  // namespace perfc::python
