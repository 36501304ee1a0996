"""What of a fitted estimator can be used without this package: its networks, one network in place of all, files."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from torch import nn

from merlin_cl.errors import UsageError
from merlin_cl.estimator.distillation import distilled
from merlin_cl.estimator.modules import InputsAsLearned, LearnerAnswer, ModuleAnswer, plain_modules
from merlin_cl.estimator.onnx import export
from merlin_cl.estimator.snapshots import Snapshot
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference

TaskName = str | int


class Exportable:
    """The part of an estimator that gives things out."""

    inference: Inference | None

    def sample_models(self, n: int, task: TaskName | None = None) -> list[nn.Module]:
        """`n` of the networks that answer, for one task or for all, as plain modules in evaluation mode.

        They take inputs as floats (bytes divided by 255), [N, *input_shape], channels first, standardise them as the estimator
        does, and give logits in the order of `classes_`; classes that they cannot answer have -1e10.
        """
        if n < 1:
            raise UsageError(f"n is {n}; sample at least 1 model.")
        with self._answering() as snapshot:
            model, index = snapshot.model, snapshot.model._index(task)
            self._make_ready(snapshot, index)
            bank = model.learner_.ensemble(index, n)
            if bank.members < n:
                raise UsageError(
                    f"The current task has {bank.members} models until it ends; ask for no more, or call end_task() first."
                )
            return _plain(model, bank, index)

    def distil(self, X: Any = None, task: TaskName | None = None, steps: int = 1000) -> nn.Module:
        """One plain module, as `sample_models` gives them, that has learned to answer as this estimator does: on inputs X, which
        need no labels, or on the exemplars it keeps."""
        with self._answering() as snapshot:
            model, index = snapshot.model, snapshot.model._index(task)
            x = None if X is None else model._asked(X)
            self._make_ready(snapshot, index)
            return _plain(model, distilled(model.learner_, x, index, self.inference, steps), index)[0]

    def export(self, path: str | Path, *, task: TaskName | None = None, module: nn.Module | None = None) -> Path:
        """Write the whole answer, ensembles and all, to a file that runs without this package: .pt2 (torch.export) or .onnx.

        It takes inputs [N, *input_shape] in the form in which they were learned, channels first, and gives probabilities in the
        order of `classes_`, which go with the file as JSON under the name `classes`. `module`, from `distil` or `sample_models`,
        is written in place of the whole answer.
        """
        with self._answering() as snapshot:
            model, index = snapshot.model, snapshot.model._index(task)
            answer: nn.Module
            if module is None:
                inputs = InputsAsLearned(model._standardisation)
                outputs = model._labels.order.tolist()
                answer = LearnerAnswer(inputs, model.learner_, outputs, index, self.inference)
                # What has to be made ready is not to be part of the file.
                model.learner_.probabilities(model._form.blank(), index, inference=self.inference)
            else:
                answer = ModuleAnswer(InputsAsLearned(None), module)  # it standardises by itself
            return export(answer, model._form.blank(), Path(path).expanduser(), model._labels.classes.tolist())

    def _answering(self) -> AbstractContextManager[Snapshot]:
        raise NotImplementedError

    def _make_ready(self, snapshot: Snapshot, *visits: int | None) -> None:
        raise NotImplementedError


def _plain(model: Any, bank: Bank, task: int | None) -> list[nn.Module]:
    """The networks of a bank as modules that give the logits of an estimator's classes."""
    allowed = model.learner_.seen if task is None else model.learner_.tasks[task].classes
    modules = plain_modules(bank, model._labels.order.tolist(), allowed)
    if model._standardisation is None:
        return modules
    return [nn.Sequential(InputsAsLearned(model._standardisation), module).eval() for module in modules]
