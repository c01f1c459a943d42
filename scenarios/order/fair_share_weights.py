"""Two classes with different weights."""

from harness.scenario import Script, scenario

__all__ = ["fair_share_weights"]


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("fair-share", "classes"), tasks=8)
def fair_share_weights(script: Script, each: int = 3) -> None:
    """Starts are shared by weight while several classes have tasks waiting, whoever came first.

    Claim: a class of weight 4 has four starts for each one of a class of weight 1, give or take one of either.
    Interleaving: the workers are held inside `invoke`; three tasks of the light class wait first, and then three of the
        heavy one.
    Expected: the light class does not have the first two starts; each task delivers its own output.
    """
    classes = {"light": {"weight": 1.0}, "heavy": {"weight": 4.0}}
    service = script.open_service(capacity=2 * each, classes=classes, ordering="fair-share")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task(), request_class="light") for _ in range(each)]
    tasks += [service.submit(script.task(), request_class="heavy") for _ in range(each)]
    gate.open()
    for task in tasks:
        task.result()
    service.close()
