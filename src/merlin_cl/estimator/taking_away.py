"""What of a fitted estimator can be used without this package: its networks, one network in place of all, files."""

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from merlin_cl.errors import UsageError
from merlin_cl.estimator.distilling import distilled
from merlin_cl.estimator.exporting import export
from merlin_cl.estimator.inputs import Array, InputForm
from merlin_cl.estimator.labels import Labels
from merlin_cl.estimator.plain import InputsAsLearned, LearnerAnswer, ModuleAnswer, plain_modules
from merlin_cl.learners.answers import probabilities
from merlin_cl.learners.learner import Learner
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference
from merlin_cl.streams.own.standardisation import Standardisation

TaskName = str | int


class TakenAway:
    """The part of an estimator that gives things out."""

    classes_: Array
    learner_: Learner[Any]
    inference: Inference | None
    _labels: Labels
    _form: InputForm
    _standardisation: Standardisation | None

    def sample_models(self, n: int, task: TaskName | None = None) -> list[nn.Module]:
        """`n` of the networks that answer, for one task or for all, as plain modules in evaluation mode.

        They take inputs as floats (bytes divided by 255), [N, *input_shape] with channels first, and give logits in the order of
        `classes_`; classes that they cannot answer have -1e10.
        """
        check_is_fitted(self)
        if n < 1:
            raise UsageError(f"n is {n}; sample at least 1 model.")
        bank = self.learner_.ensemble(self._index(task), n)
        if bank.members < n:
            raise UsageError(
                f"The current task has {bank.members} models until it ends; ask for no more, or call end_task() first."
            )
        return self._plain(bank, task)

    def distil(self, X: Any = None, task: TaskName | None = None, steps: int = 1000) -> nn.Module:
        """One plain module, as `sample_models` gives them, that has learned to answer as this estimator does: on inputs X, which
        need no labels, or on the exemplars it keeps."""
        check_is_fitted(self)
        x = None if X is None else self._asked(X)
        return self._plain(distilled(self.learner_, x, self._index(task), self.inference, steps), task)[0]

    def export(self, path: str | Path, *, task: TaskName | None = None, module: nn.Module | None = None) -> Path:
        """Write the whole answer, ensembles and all, to a file that runs without this package: .pt2 (torch.export) or .onnx.

        It takes inputs [N, *input_shape] in the form in which they were learned, channels first, and gives probabilities in the
        order of `classes_`, which go with the file as JSON under the name `classes`. `module`, from `distil` or `sample_models`,
        is written in place of the whole answer.
        """
        check_is_fitted(self)
        inputs, index = InputsAsLearned(self._standardisation), self._index(task)
        answer: nn.Module
        if module is None:
            outputs = self._labels.order.tolist()
            answer = LearnerAnswer(inputs, self.learner_, outputs, index, self.inference)
            # What has to be made ready is not to be part of the file.
            probabilities(self.learner_, self._form.blank(), index, self.inference)
        else:
            answer = ModuleAnswer(inputs, module)
        return export(answer, self._form.blank(), Path(path).expanduser(), self.classes_.tolist())

    def _plain(self, bank: Bank, task: TaskName | None) -> list[nn.Module]:
        index = self._index(task)
        allowed = self.learner_.seen if index is None else self.learner_.tasks[index].classes
        return plain_modules(bank, self._labels.order.tolist(), allowed)

    def _index(self, task: TaskName | None) -> int | None:
        raise NotImplementedError

    def _asked(self, X: Any) -> Tensor:
        raise NotImplementedError
