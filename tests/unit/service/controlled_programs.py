"""Programs over the whole service, run under the engine in a process of their own: `explore` below starts it.

    python controlled_programs.py [FILE:]PROGRAM EXECUTIONS STRATEGY [MODULE OLD NEW]

Every statement of `harness.service` that touches shared state is a decision point, and time is virtual: a run takes
exactly as long as its input says, and a deadline is due at that very moment. Each program returns the breaches it saw.
"""

import importlib
import importlib.util
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
TICK = 1e-4  # what reading the clock costs in virtual time, many times over


def explore(program, executions, strategy, variant=()):
    """Run one program many times and return how often each answer came, breaches by name.

    A `variant` is a module of `harness.service` and a text in it that is replaced: a service with a defect.
    """
    command = [sys.executable, str(HERE / "controlled_programs.py"), program, str(executions), strategy, *variant]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def break_it(instrumenter, module, old, new):
    """Have one module's source changed as it is loaded."""
    compile_file = instrumenter.compile_file

    def changed(self, source, path):
        if pathlib.Path(path).stem == module:
            text = source.decode()
            assert text.count(old) == 1, f"the variant does not apply: {old!r}"
            source = text.replace(old, new).encode()
        return compile_file(self, source, path)

    instrumenter.compile_file = changed


def main():
    from harness.engine.install import install

    install()
    from harness.engine.instrument.loader import Instrumenter

    if sys.argv[4:]:
        break_it(Instrumenter, *sys.argv[4:])
    Instrumenter(["harness.service"]).activate()
    sys.path.insert(0, str(HERE))
    spec = importlib.util.spec_from_file_location("engine_bench", HERE.parent / "engine" / "conftest.py")
    bench = importlib.util.module_from_spec(spec)
    sys.modules["engine_bench"] = bench
    spec.loader.exec_module(bench)

    module, _, name = sys.argv[1].rpartition(":")
    program = getattr(importlib.import_module(module or "service_programs"), name)
    install()
    from harness.engine.strategies.portfolio import make_strategy
    from harness.engine.threads import current

    def controlled(_trace):
        current().kernel.at_statements = True
        return program()

    sys.stdout.write(json.dumps(answers(bench.Bench(), controlled, make_strategy(sys.argv[3], 7))))


def answers(runs, controlled, strategy):
    found = {}
    for number in range(int(sys.argv[2])):
        try:
            ran = runs.once(controlled, strategy, number, limit=60_000)
        except Exception as error:  # a thread of the program died of it
            if not sys.argv[4:]:
                raise
            found[f"died: {error}"] = 1
            break
        assert sys.argv[4:] or not ran.kernel.out_of_budget, "the execution was cut short"
        answer = "stuck: " + ", ".join(ran.left) if ran.left else str(ran.result)
        found[answer] = found.get(answer, 0) + 1
    return found


if __name__ == "__main__":
    main()
