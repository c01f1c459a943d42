"""Always-on work beside a flood."""

from harness.scenario import Script, scenario

__all__ = ["fair_share_floor"]


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("fair-share", "classes"), tasks=8)
def fair_share_floor(script: Script, heavy: int = 5) -> None:
    """A class with a floor gets its share of the starts, however heavy the others are.

    Claim: with a floor of a third, one start in three is the class's while it has tasks waiting.
    Interleaving: the workers are held inside `invoke`; five tasks of a heavy class come first and one of the always-on
        class last.
    Expected: the one starts among the next three; each task delivers its own output.
    """
    classes = {"default": {"weight": 100.0}, "always-on": {"weight": 1.0, "floor": 0.34}}
    service = script.open_service(capacity=heavy + 1, classes=classes, ordering="fair-share")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task()) for _ in range(heavy)]
    tasks.append(service.submit(script.task(), request_class="always-on"))
    gate.open()
    for task in tasks:
        task.result()
    service.close()
