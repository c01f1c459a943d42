"""Functions, generators, comprehensions, containers."""

# fmt: off
# ruff: noqa: ARG001, ARG005, B006, B007, B008, B023, B905, C416, F821, PGH004, PLC3002, PLR0133, RUF100, UP031 - strange forms are the point

def nested_closures():
    value = 0

    def outer():
        def inner(step=1):
            nonlocal value
            value += step
            return value

        return inner

    first = outer()
    value = 10
    return [first(), first(5), value, (lambda: value)(), [value + n for n in range(2)]]


def a_closure_over_a_loop():
    return [f() for f in [(lambda: n) for n in range(3)]], [f() for f in [lambda n=n: n for n in range(3)]]


def a_recursive_function():
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return fact(10)


def generators():
    def count(n):
        got = None
        try:
            for i in range(n):
                got = yield i, got
        except KeyError:
            yield "caught"
        finally:
            log.append("closed")
        return "returned"

    def outer():
        answer = yield from count(2)
        yield answer
        yield from [7, 8]
        yield from (n for n in "ab")

    walk = outer()
    seen = [next(walk), walk.send("x"), *walk]
    other = outer()
    next(other)
    seen.append(other.throw(KeyError))
    other.close()
    broken = count(3)
    for value in broken:
        break
    seen.append(list(broken))
    return seen


def a_generator_s_return_value():
    def walk():
        yield 1
        return [2]

    def outer():
        return (yield from walk())

    machine = outer()
    next(machine)
    try:
        next(machine)
    except StopIteration as stop:
        return stop.value


def a_generator_expression_is_lazy():
    items = [1]
    walk = (item * 2 for item in items)
    items.append(2)
    return list(walk), inspect.isgenerator(walk)


def asynchronous():
    class Gate:
        async def __aenter__(self):
            log.append("in")
            return [1, 2]

        async def __aexit__(self, *exc):
            log.append("out")

    async def count(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i, [i]

    async def main():
        box, seen = Box(), []
        async with Gate() as box.value, Gate() as (a, b):
            seen.append((box.value, a, b))
        async for box.value, (n,) in count(2):
            seen.append((box.value, n))
        seen.append([n async for n, _ in count(3) if n])
        seen.append([x for x in [await asyncio.sleep(0, n) for n in range(2)]])
        return seen

    log.clear()
    return asyncio.run(main()), list(log)


def frames_are_the_caller_s():
    name = sys._getframe().f_code.co_name
    local = sorted(k for k in locals())
    made = namedtuple("Made", "a b")(1, [2])
    caller = (lambda *a: sys._getframe(1).f_code.co_name)([1], *[2])
    return name, local, made.__class__.__module__, caller, type("New", (), {}).__module__


def decorated():
    calls = []

    def mark(*names):
        def wrap(f):
            calls.append((names, f.__name__))
            return f

        return wrap

    @mark("a", *["b"])
    @functools.lru_cache(maxsize=None)
    def f(x, *, y=[1]):
        return x, y

    @mark("c")
    class C:
        @mark("d")
        def m(self, a, b=len([1]), /, *c, d=3, **e):
            return a, b, c, d, e

    return f(1), f(1), f.cache_info().hits, C().m(0, 1, 2, d=4, f=5), calls


def texts():
    items, width = [1, "a"], 8
    return f"{items!r:>{width + 4}}|{items}|{len(items):03d}|{items=}|{'%s %s' % (items, width)}", "%d%%" % 5


def containers():
    counted, grouped, ordered = Counter("aab"), defaultdict(list), OrderedDict(a=1, b=2)
    grouped["x"].append(1)
    grouped["y"] += [2]
    counted["a"] += 1
    ordered.move_to_end("a")
    ring = deque([1, 2, 3], maxlen=3)
    ring += [4]
    seen = {1, 2} | {3}
    seen ^= {1}
    merged = ChainMap({"a": 1}, dict(ordered))
    return counted.most_common(1), dict(grouped), list(ordered), ring, seen, merged["b"], sorted(merged)


def subclasses_of_containers():
    class Table(dict):
        def __missing__(self, key):
            self[key] = value = len(self)
            return value

        def __getitem__(self, key):
            log.append(key)
            return super().__getitem__(key)

    class Stack(list):
        def push(self, item):
            super().append(item)
            self += [item]
            self[-1:] = [0]
            return self

    table = Table()
    table["a"] += 5
    return table["b"], table, Stack([1]).push(2), len(Stack("ab")), Stack("ba") == ["b", "a"]


def walrus():
    if (n := len(items := [1, 2])) > 1:
        pass
    return n, items, [last := m for m in items], last, (lambda: (p := 3) + p)()


def comprehensions():
    rows = [[1, 2], [3, 4]]
    return ([x for row in rows for x in row if x % 2 if x > 1], {k: v for k, v in zip("ab", rows)},
            {x for (x, _) in rows}, sum(x for _, x in rows), [[y for y in row] for row in rows],
            [a + b for a, (b, *_) in enumerate(rows)])


def arithmetic():
    n = 7
    n -= 2
    n *= 3
    n //= 2
    n %= 5
    n **= 3
    n <<= 2
    n |= 1
    n ^= 3
    n &= 0xFE
    n >>= 1
    n /= 4
    return n, 5 @ Matrix() if False else None, 2**-1, 1 < 2 <= 2 != 3, "a" in "abc", None is None


def in_place_on_arguments(items=None):
    def extend(mine, more):
        mine += more
        mine *= 2
        return mine

    kept = [1]
    return extend(kept, (2,)) is kept, kept, extend((1,), (2,)), extend("a", "b")


def partial_calls():
    append = (items := []).append
    functools.partial(append, 1)()
    list.append(items, 2)
    list(map(append, [3, 4]))
    return items, functools.reduce(lambda a, b: a + b, items), sorted(items, key=lambda n: -n), max(items, default=0)


def iterators():
    items = [1, 2, 3]
    walk, pairs = iter(items), enumerate(items)
    next(walk)
    items.append(4)
    first = [n for n in walk]
    for number, item in pairs:
        if number == 1:
            break
    return first, next(pairs), list(zip(items, reversed(items))), next(iter([]), "none"), [*map(str, items)]


def star_targets():
    a, *b = *c, d = [1, 2, 3]
    [e, (f, *g)], h = (1, "xyz"), {5}
    return a, b, c, d, e, f, g, h


async def _never():
    return [await x async for x in y]
