import { injectable } from 'inversify';
import { FeedbackService } from '../../../application/record/feedback.service.js';
import type { Feedback } from '../../../domain/record/feedback.js';
import { answerFrom, hidden } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { FeedbackAnswer } from './calls.contract.js';
import { giveFeedback } from './feedback.contract.js';

@injectable()
export class FeedbackController implements Controller {
  readonly routes = [
    route(giveFeedback, async ({ caller, params, body }) => {
      const { score, label, comment, correction } = body;
      const given = { callId: params.call_id, score, label, comment, correction };
      return feedbackAnswer(await this.feedback.give(caller, given));
    }),
  ];

  readonly exists: Existence<'call_id'> = {
    call_id: ({ caller, params }) => this.feedback.requireCall(caller, { callId: params.call_id }),
  };

  constructor(private readonly feedback: FeedbackService) {}
}

export const feedbackAnswer = (feedback: Feedback) =>
  answerFrom(FeedbackAnswer, feedback, { call_id: hidden, project_id: hidden });
