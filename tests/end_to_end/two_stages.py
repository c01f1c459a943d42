"""The pipeline with one stage less, to be searched whole: `finish` does nothing but give the buffer up."""

from harness.service.pipelined import PipelinedQueue


class TwoStages(PipelinedQueue):
    """Prepare and infer, over two buffers."""

    def stages(self, session):
        return {name: stage for name, stage in super().stages(session).items() if name != "finish"}
