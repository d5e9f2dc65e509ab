/* The fast way from NumPy's arrays into the library, of the limited API of Python 3.10: linear_sum_assignment of small
 * matrices and batches, without Python code of ours between the caller and the solver. What it does not take, it passes
 * to the function of the same name in _assignment.py, which calls the library by ctypes; so does every Python that
 * cannot load this module. The library is not linked: _library.py gives its address once it is loaded. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <string.h>

#include "coalesce.h"

/* A matrix of more costs is a job's, which ctrl-C can end; so is a batch. */
enum { MATRIX = 1 << 22, BATCH = 1 << 22 };

/* A solve of at least so many costs releases the GIL: a hand-over takes longer than a smaller one. */
enum { RELEASE = 4096 };

static int32_t (*assign)(coalesce_assignment *); /* coalesce_assign, null until the library is loaded */
static PyObject *slow;                           /* linear_sum_assignment of _assignment.py */

static PyObject *bind(PyObject *self, PyObject *address) {
    void *found = PyLong_AsVoidPtr(address);
    if (found == NULL && PyErr_Occurred()) return NULL;
    assign = (int32_t(*)(coalesce_assignment *))found;
    Py_RETURN_NONE;
}

static PyObject *otherwise(PyObject *self, PyObject *function) {
    if (PyArray_ImportNumPyAPI() < 0) return NULL;
    Py_INCREF(function);
    Py_XDECREF(slow);
    slow = function;
    Py_RETURN_NONE;
}

/* type_of is the library's number of a type of NumPy, 0 where it has none. */
static int32_t type_of(int number) {
    switch (number) {
    case NPY_BOOL: case NPY_UBYTE: return COALESCE_UINT8;
    case NPY_BYTE: return COALESCE_INT8;
    case NPY_SHORT: return COALESCE_INT16;
    case NPY_USHORT: return COALESCE_UINT16;
    case NPY_INT: return COALESCE_INT32;
    case NPY_UINT: return COALESCE_UINT32;
    case NPY_LONG: return sizeof(long) == 8 ? COALESCE_INT64 : COALESCE_INT32;
    case NPY_ULONG: return sizeof(long) == 8 ? COALESCE_UINT64 : COALESCE_UINT32;
    case NPY_LONGLONG: return COALESCE_INT64;
    case NPY_ULONGLONG: return COALESCE_UINT64;
    case NPY_FLOAT: return COALESCE_FLOAT32;
    case NPY_DOUBLE: return COALESCE_FLOAT64;
    default: return 0;
    }
}

/* described fills the struct of an array that is solved here, and says whether it is one. */
static int described(PyObject *x, coalesce_assignment *p) {
    if (Py_TYPE(x) != &PyArray_Type) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    PyArray_Descr *d = PyArray_DESCR(a);
    int nd = PyArray_NDIM(a);
    if ((nd != 2 && nd != 3) || !PyDataType_ISNOTSWAPPED(d) || (p->type = type_of(d->type_num)) == 0) return 0;
    const npy_intp *size = PyArray_DIMS(a), *step = PyArray_STRIDES(a);
    int64_t batch = 1;
    if (nd == 3) {
        batch = size[0];
        p->batch_stride = step[0];
        size++, step++;
    }
    if (batch <= 0 || batch > BATCH || size[0] <= 0 || size[1] <= 0 || size[0] > MATRIX || size[1] > MATRIX) return 0;
    int64_t costs = (int64_t)size[0] * size[1];
    if (costs > MATRIX || batch * costs > BATCH) return 0;
    p->batch = batch, p->rows = size[0], p->cols = size[1];
    p->row_stride = step[0], p->col_stride = step[1];
    p->costs = PyArray_DATA(a);
    return 1;
}

/* solved calls the library, without the GIL where that is worth it. */
static int32_t solved(coalesce_assignment *p) {
    if (p->batch * p->rows * p->cols < RELEASE) return assign(p);
    PyThreadState *state = PyEval_SaveThread();
    int32_t code = assign(p);
    PyEval_RestoreThread(state);
    return code;
}

/* matched makes the two arrays of a batch, (B, k) or, of one matrix, (k,), of the column of each row; -1 is unmatched. */
static PyObject *matched(const coalesce_assignment *p, int nd, const int32_t *column) {
    npy_intp size[2] = {p->batch, p->rows < p->cols ? p->rows : p->cols};
    const npy_intp *shape = nd == 3 ? size : size + 1;
    PyObject *rows = PyArray_SimpleNew(nd - 1, (npy_intp *)shape, NPY_INTP);
    PyObject *cols = PyArray_SimpleNew(nd - 1, (npy_intp *)shape, NPY_INTP);
    PyObject *pair = rows && cols ? PyTuple_New(2) : NULL;
    if (pair == NULL) {
        Py_XDECREF(rows);
        Py_XDECREF(cols);
        return NULL;
    }
    npy_intp *r = PyArray_DATA((PyArrayObject *)rows), *c = PyArray_DATA((PyArrayObject *)cols);
    for (int64_t k = 0; k < p->batch; k++, column += p->rows) {
        npy_intp *end = r + size[1];
        if (p->rows <= p->cols) { /* all are matched */
            for (int64_t i = 0; i < p->rows; i++) r[i] = i, c[i] = column[i];
            r = end, c += size[1];
            continue;
        }
        for (int64_t i = 0; i < p->rows && r < end; i++)
            if (column[i] >= 0) *r++ = i, *c++ = column[i];
    }
    PyTuple_SetItem(pair, 0, rows);
    PyTuple_SetItem(pair, 1, cols);
    return pair;
}

/* passed calls the function of Python with the arguments as they came. */
static PyObject *passed(PyObject *const *args, Py_ssize_t count, PyObject *names) {
    if (slow == NULL) { /* a pickle imported this module alone */
        PyObject *binder = PyImport_ImportModule("coalesce._assignment");
        if (binder == NULL) return NULL;
        Py_DECREF(binder);
        if (slow == NULL) return PyErr_Format(PyExc_RuntimeError, "coalesce._assignment has not given its functions to coalesce._door");
    }
    PyObject *keywords = NULL, *result = NULL, *positional = PyTuple_New(count);
    if (positional == NULL) return NULL;
    for (Py_ssize_t k = 0; k < count; k++) {
        Py_INCREF(args[k]);
        PyTuple_SetItem(positional, k, args[k]);
    }
    if (names != NULL) {
        if ((keywords = PyDict_New()) == NULL) goto end;
        for (Py_ssize_t k = 0; k < PyTuple_Size(names); k++)
            if (PyDict_SetItem(keywords, PyTuple_GetItem(names, k), args[count + k]) < 0) goto end;
    }
    result = PyObject_Call(slow, positional, keywords);
end:
    Py_DECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

static PyObject *linear_sum_assignment(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    PyObject *maximize = count == 2 && named == 0 ? args[1] : Py_False;
    if (count == 1 && named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "maximize") == 0) maximize = args[1], named = 0;
    coalesce_assignment p;
    memset(&p, 0, sizeof p);
    if (assign == NULL || named != 0 || count < 1 || count > 2 || (maximize != Py_False && maximize != Py_True) || slow == NULL || !described(args[0], &p))
        return passed(args, count, names);
    enum { HERE = 256 };
    int32_t here[HERE], *column = here, *codes = NULL;
    int nd = PyArray_NDIM((PyArrayObject *)args[0]);
    int64_t total = p.batch * p.rows + (nd == 3 ? p.batch : 0);
    if (total > HERE && (column = PyMem_Malloc(4 * total)) == NULL) return PyErr_NoMemory();
    p.size = sizeof p;
    p.flags = maximize == Py_True ? COALESCE_MAXIMIZE : 0;
    p.device = COALESCE_HOST;
    p.column = column;
    if (nd == 3) p.code = codes = column + p.batch * p.rows;
    int32_t code = solved(&p);
    for (int64_t k = 0; codes != NULL && code == COALESCE_OK && k < p.batch; k++) code = codes[k];
    /* That function finds the same error, and has the words for it. */
    PyObject *result = code == COALESCE_OK ? matched(&p, nd, column) : passed(args, count, names);
    if (column != here) PyMem_Free(column);
    return result;
}

/* columns(costs, maximize, limit) is the column of each row, int32 (n,) or (B, n), -1 where it is unmatched; limit is a
 * float or None. None stands for what is not solved here, errors too. */
static PyObject *columns(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    coalesce_assignment p;
    memset(&p, 0, sizeof p);
    if (count != 3 || assign == NULL || slow == NULL || !described(args[0], &p)) Py_RETURN_NONE;
    int nd = PyArray_NDIM((PyArrayObject *)args[0]);
    npy_intp shape[2] = {p.batch, p.rows};
    PyObject *found = PyArray_SimpleNew(nd - 1, nd == 3 ? shape : shape + 1, NPY_INT32);
    if (found == NULL) return NULL;
    int32_t *codes = NULL, code = COALESCE_OK;
    if (nd == 3 && (codes = PyMem_Malloc(4 * p.batch)) == NULL) {
        Py_DECREF(found);
        return PyErr_NoMemory();
    }
    p.size = sizeof p;
    p.device = COALESCE_HOST;
    p.flags = args[1] == Py_True ? COALESCE_MAXIMIZE : 0;
    p.column = PyArray_DATA((PyArrayObject *)found);
    p.code = codes;
    if (args[2] != Py_None) {
        p.limit = PyFloat_AsDouble(args[2]);
        p.flags |= COALESCE_LIMIT;
    }
    if (PyErr_Occurred()) code = COALESCE_INVALID;
    else code = solved(&p);
    for (int64_t k = 0; codes != NULL && code == COALESCE_OK && k < p.batch; k++) code = codes[k];
    PyMem_Free(codes);
    if (code == COALESCE_OK) return found;
    Py_DECREF(found);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(documentation,
             "linear_sum_assignment($module, cost_matrix, maximize=False, *, tensors=False, ties=\"any\")\n--\n\n"
             "The matching of rows to columns of the least total cost, with the signature of SciPy's function of that name.\n\n"
             "help(coalesce.linear_sum_assignment.__wrapped__) has all of it.");

static PyMethodDef methods[] = {
    {"bind", bind, METH_O, "Gives the address of coalesce_assign."},
    {"otherwise", otherwise, METH_O, "Gives the function of Python for what is not solved here."},
    {"columns", (PyCFunction)(void (*)(void))columns, METH_FASTCALL, "The column of each row of small matrices, or None."},
    {"linear_sum_assignment", (PyCFunction)(void (*)(void))linear_sum_assignment, METH_FASTCALL | METH_KEYWORDS, documentation},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "coalesce._door", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__door(void) { return PyModule_Create(&module); }
