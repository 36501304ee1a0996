"""What sampled models keep of the tasks is counted right."""

from tools.pages.method import fidelity


def test_losses_are_those_of_the_last_sampling_against_the_base_ensemble():
    def result(base, sampled):
        learned = {"base_single": base - 1, "base_ensemble": base, "sampled_ensemble": sampled}
        return {"diagnosis": {"learned": [learned], "final": [{"sampled_ensemble": sampled - 2}]}}

    table = fidelity([result(90.0, 89.0), result(80.0, 80.0)])
    assert "| 1 | 84.00 | 85.00 | 84.50 | 82.50 | 2.50 | 3.00 |" in table.splitlines()
