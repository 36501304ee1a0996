"""Loops that hold a block of sums in vector registers, written as LLVM instructions: its compiler finds no such blocks itself."""

from collections.abc import Callable
from typing import Any

import torch
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LONG = "AVX512" in torch.backends.cpu.get_cpu_capability()
BYTES = 64 if LONG else 32
"""Of a vector."""
VECTORS = 4 if LONG else 2
"""Of pixels at once: with five outputs, 20 of 32 registers hold sums, or 10 of 16."""
OUTPUTS, TERMS = 5, 3
"""At once; what is left over goes one by one. The paper's networks have multiples of five maps."""
MARGIN = BYTES * VECTORS
"""How many bytes beyond a row may be read, and by `multiply` written."""

_INTEGER = ir.IntType(64)


class _Block:
    """Instructions on vectors of numbers of one kind. Arguments that are tuples begin with an array and a place in it."""

    def __init__(self, context: Any, builder: Any, dtype: Any) -> None:
        self._context, self._builder = context, builder
        self._number_bytes = dtype.bitwidth // 8
        self.lanes = BYTES // self._number_bytes
        self._number = context.get_value_type(dtype)
        self._vector = ir.VectorType(self._number, self.lanes)
        name = f"v{self.lanes}f{dtype.bitwidth}"
        self._fma = self._intrinsic(f"llvm.fma.{name}", self._vector, [self._vector] * 3)
        self._add = self._intrinsic(f"llvm.vector.reduce.fadd.{name}", self._number, [self._number, self._vector])

    def _intrinsic(self, name: str, gives: Any, takes: list[Any]) -> Any:
        return cgutils.get_or_insert_function(self._builder.module, ir.FunctionType(gives, takes), name)

    def start(self, kind: Any, given: Any) -> Any:
        """The address of the place in an array."""
        array, place = (self._builder.extract_value(given, part) for part in (0, 1))
        return self.after(self._context.make_array(kind[0])(self._context, self._builder, array).data, place)

    def after(self, address: Any, count: Any, times: int = 1) -> Any:
        """The address so many numbers on."""
        count = _INTEGER(count) if isinstance(count, int) else count
        return self._builder.gep(address, [count if times == 1 else self._builder.mul(count, _INTEGER(times))])

    def load(self, address: Any, lanes: Any = None) -> Any:
        """A vector, of which only the first `lanes` count: the others become zero."""
        vector = self._builder.load(self._builder.bitcast(address, self._vector.as_pointer()))
        vector.align = self._number_bytes
        if lanes is None:
            return vector
        numbers = ir.VectorType(_INTEGER, self.lanes)
        here = self._builder.icmp_signed(
            "<", ir.Constant(numbers, list(range(self.lanes))), self._everywhere(lanes, numbers)
        )
        return self._builder.select(here, vector, ir.Constant(self._vector, None))

    def spread(self, address: Any) -> Any:
        """A vector of one number."""
        return self._everywhere(self._builder.load(address), self._vector)

    def _everywhere(self, value: Any, kind: Any) -> Any:
        nothing = ir.Constant(kind, ir.Undefined)
        first = self._builder.insert_element(nothing, value, ir.IntType(32)(0))
        return self._builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), None)
        )

    def sums(self, count: int) -> list[Any]:
        """Vectors of zeros; they stay in registers."""
        variables = [cgutils.alloca_once(self._builder, self._vector) for _ in range(count)]
        for variable in variables:
            self._builder.store(ir.Constant(self._vector, None), variable)
        return variables

    def add_product(self, variable: Any, a: Any, b: Any) -> None:
        """variable += a * b, number by number."""
        self._builder.store(self._builder.call(self._fma, [a, b, self._builder.load(variable)]), variable)

    def store(self, variable: Any, address: Any) -> None:
        """Write a sum's numbers."""
        to = self._builder.bitcast(address, self._vector.as_pointer())
        self._builder.store(self._builder.load(variable), to).align = self._number_bytes

    def add_total(self, variable: Any, address: Any) -> None:
        """Add the total of a sum's numbers to the number at an address."""
        total = [self._builder.load(address), self._builder.load(variable)]
        self._builder.store(self._builder.call(self._add, total, fastmath=["reassoc"]), address)


def _multiply(outputs: int, vectors: int) -> Callable[..., None]:
    """A tile of pixels of some outputs; see `products.multiply`."""

    @intrinsic
    def multiply(typing: Any, y: Any, y_plane: Any, x: Any, offsets: Any, weights: Any, row: Any) -> Any:
        kinds = [y, y_plane, x, offsets, weights, row]

        def instructions(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            block = _Block(context, builder, y[0].dtype)
            (to, at, first), (plane, step) = (block.start(kinds[i], given[i]) for i in (0, 2, 4)), (given[1], given[5])
            table = context.make_array(offsets)(context, builder, given[3])
            sums = [block.sums(vectors) for _ in range(outputs)]
            with cgutils.for_range(builder, builder.extract_value(table.shape, 0)) as term:
                pixel = block.after(at, builder.load(builder.gep(table.data, [term.index])))
                pixels = [block.load(block.after(pixel, part * block.lanes)) for part in range(vectors)]
                weight = block.after(first, builder.mul(term.index, step))
                for output in range(outputs):
                    factor = block.spread(block.after(weight, output))
                    for variable, vector in zip(sums[output], pixels, strict=True):
                        block.add_product(variable, vector, factor)
            for output in range(outputs):
                for part, variable in enumerate(sums[output]):
                    block.store(variable, block.after(block.after(to, plane, output), part * block.lanes))
            return context.get_dummy_value()

        return types.void(*kinds), instructions

    function: Callable[..., None] = multiply
    return function


def _correlate(terms: int, outputs: int) -> Callable[..., None]:
    """Some terms and outputs, added to what is there; see `products.correlate`."""

    @intrinsic
    def correlate(typing: Any, sums: Any, row: Any, x: Any, offsets: Any, g: Any, g_plane: Any, lines: Any) -> Any:
        kinds = [sums, row, x, offsets, g, g_plane, lines]

        def instructions(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            block = _Block(context, builder, sums[0].dtype)
            into, at, table, by = (block.start(kinds[i], given[i]) for i in (0, 2, 3, 4))
            x_row, g_row = (builder.extract_value(given[i], 2) for i in (2, 4))
            rows, length = (builder.extract_value(given[6], part) for part in (0, 1))
            ahead = [builder.load(block.after(table, term)) for term in range(terms)]
            totals = [block.sums(outputs) for _ in range(terms)]
            whole, rest = (divide(length, _INTEGER(block.lanes)) for divide in (builder.sdiv, builder.srem))

            def add(pixel: Any, slope: Any, lanes: Any = None) -> None:
                slopes = [block.load(block.after(slope, given[5], output), lanes) for output in range(outputs)]
                for term in range(terms):
                    pixels = block.load(block.after(pixel, ahead[term]), lanes)
                    for output in range(outputs):
                        block.add_product(totals[term][output], pixels, slopes[output])

            with cgutils.for_range(builder, rows) as line:
                pixel, slope = (
                    block.after(start, builder.mul(line.index, step)) for start, step in ((at, x_row), (by, g_row))
                )
                with cgutils.for_range(builder, whole) as vector:
                    along = builder.mul(vector.index, _INTEGER(block.lanes))
                    add(block.after(pixel, along), block.after(slope, along))
                with builder.if_then(builder.icmp_signed(">", rest, _INTEGER(0))):
                    along = builder.mul(whole, _INTEGER(block.lanes))
                    add(block.after(pixel, along), block.after(slope, along), rest)
            for term in range(terms):
                for output in range(outputs):
                    block.add_total(totals[term][output], block.after(block.after(into, given[1], term), output))
            return context.get_dummy_value()

        return types.void(*kinds), instructions

    function: Callable[..., None] = correlate
    return function


multiply_one, multiply_five = _multiply(1, VECTORS), _multiply(OUTPUTS, VECTORS)
multiply_one_by_vectors, multiply_five_by_vectors = _multiply(1, 1), _multiply(OUTPUTS, 1)
correlate_one_with_one, correlate_one_with_five = _correlate(1, 1), _correlate(1, OUTPUTS)
correlate_three_with_one, correlate_three_with_five = _correlate(TERMS, 1), _correlate(TERMS, OUTPUTS)
