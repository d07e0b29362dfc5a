export interface paths {
    "/v1/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAuthStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/verify-email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/verify-email/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resendVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/site-login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["siteLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readOwnAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateOwnAccount"];
        trace?: never;
    };
    "/v1/auth/password/forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forgotPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/password/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/users/{user_id}/role": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["changeRole"];
        trace?: never;
    };
    "/v1/auth/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["removeUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvites"];
        put?: never;
        post: operations["createInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/invites/{invite_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeInvite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/invites/lookup/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["lookUpInvite"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeys"];
        put?: never;
        post: operations["mintKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readKey"];
        put?: never;
        post?: never;
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch: operations["changeKey"];
        trace?: never;
    };
    "/v1/auth/sessions/end-others": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["endOtherSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/project-starters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProjectStarters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProjects"];
        put?: never;
        post: operations["createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readProject"];
        put: operations["updateProject"];
        post?: never;
        delete: operations["deleteProject"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reviewProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProjectVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readProjectVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDatasets"];
        put?: never;
        post: operations["importDataset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDataset"];
        put: operations["updateDataset"];
        post?: never;
        delete: operations["deleteDataset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["freezeDataset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forkDataset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDatasetVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDatasetVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["compareDatasets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDatasetRecords"];
        put?: never;
        post: operations["appendDatasetRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/records/{record}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteDatasetRecord"];
        options?: never;
        head?: never;
        patch: operations["updateDatasetRecord"];
        trace?: never;
    };
    "/v1/projects/{project_id}/datasets/{dataset_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportDataset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModels"];
        put?: never;
        post: operations["createModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModel"];
        put: operations["updateModel"];
        post?: never;
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/{model_id}/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["registerModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/{model_id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forkModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/{model_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModelVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/{model_id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModelAliases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/models/aliases/{alias}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelAlias"];
        put: operations["setModelAlias"];
        post?: never;
        delete: operations["deleteModelAlias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readRuntime"];
        put: operations["connectRuntime"];
        post?: never;
        delete: operations["disconnectRuntime"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/runtime/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["startRuntime"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/runtime/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["stopRuntime"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/conversations/{conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readConversation"];
        put?: never;
        post?: never;
        delete: operations["deleteConversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listOpenAiModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readOpenAiModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createOpenAiChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createOpenAiCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/responses/input_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["countInputTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/responses/{response_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readResponse"];
        put?: never;
        post?: never;
        delete: operations["deleteResponse"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/responses/{response_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/responses/{response_id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInputItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createOpenAiEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createAnthropicMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openai/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["countAnthropicTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/calls/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{project_id}/calls/{call_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readCall"];
        put?: never;
        post?: never;
        delete: operations["deleteCall"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/calls/{call_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["giveFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listJobs"];
        put?: never;
        post: operations["createJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["changeJob"];
        trace?: never;
    };
    "/v1/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEvaluationResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/results/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportEvaluationResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["compareEvaluations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBudgets"];
        put?: never;
        post: operations["createBudget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/budgets/{budget_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readBudget"];
        put?: never;
        post?: never;
        delete: operations["deleteBudget"];
        options?: never;
        head?: never;
        patch: operations["changeBudget"];
        trace?: never;
    };
    "/v1/alerts/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAlertRules"];
        put?: never;
        post: operations["createAlertRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/rules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewAlertRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAlertRule"];
        put?: never;
        post?: never;
        delete: operations["deleteAlertRule"];
        options?: never;
        head?: never;
        patch: operations["changeAlertRule"];
        trace?: never;
    };
    "/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/{alert_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAlert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/{alert_id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["acknowledgeAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["sendAlertAgain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeployments"];
        put?: never;
        post: operations["createDeployment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDeployment"];
        put?: never;
        post?: never;
        delete: operations["deleteDeployment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDeploymentLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/predict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["predict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readServerMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readServerLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readServerReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}/versions/{model_version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelVersionMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}/versions/{model_version}/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readModelVersionReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}/infer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["infer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deployments/{deployment_id}/v2/models/{model_name}/versions/{model_version}/infer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["inferWithVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/model-files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listModelFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/model-files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["uploadModelFile"];
        post?: never;
        delete: operations["deleteModelFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    alertFired: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["alertFired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Json: string | number | boolean | null | unknown[] | Record<string, never>;
        Error: {
            /** @constant */
            status: "error";
            code: string;
            error: string;
            request_id: string;
            details?: {
                path: string;
                message: string;
                code?: string;
                current?: number;
                budget_id?: string;
                scope?: string;
            }[];
        };
        AlertFired: {
            /** @enum {string} */
            type: "alert.fired";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["Alert"];
        };
        Alert: {
            id: string;
            rule_id: string;
            rule_name: string;
            /** @enum {string} */
            rule_type: "consecutive_failures" | "job_duration_exceeded" | "budget_used" | "latency_p95" | "error_rate";
            /** @enum {string} */
            severity: "P1" | "P2" | "P3" | "P4";
            title: string;
            message: string;
            job_id: string;
            /** @enum {string} */
            status: "firing" | "acked";
            created_at: number;
            acked_at: number | null;
            acked_by: string | null;
            note: string | null;
        };
        SignedIn: {
            user: components["schemas"]["User"];
            token: string;
            api_key: string | null;
        };
        User: {
            id: string;
            name: string;
            email: string;
            /** @enum {string} */
            role: "admin" | "developer" | "member";
            email_verified: boolean;
            created_at: number;
        };
        Registration: {
            name: string;
            /** Format: email */
            email: string;
            password: string;
            invite_token?: string | null;
            invite?: string | null;
        };
        AuthStatus: {
            account_count: number;
            max_accounts: number;
            registration_open: boolean;
        };
        Token: {
            token: string;
        };
        Login: {
            email: string;
            password: string;
            /** @default true */
            api_key?: boolean;
        };
        SiteLogin: {
            token: string;
        };
        Deleted: {
            id: string;
            /** @enum {boolean} */
            deleted: true;
        };
        OwnUser: {
            id: string;
            name: string;
            email: string;
            /** @enum {string} */
            role: "admin" | "developer" | "member";
            email_verified: boolean;
            created_at: number;
            alert_emails: boolean;
        };
        OwnAccountUpdate: {
            name?: string;
            alert_emails?: boolean;
            password?: string;
            current_password?: string;
            /** @default false */
            revoke_keys?: boolean;
        };
        Accepted: {
            /** @enum {boolean} */
            accepted: true;
        };
        PasswordForgotten: {
            email: string;
        };
        PasswordReset: {
            token: string;
            password: string;
            /** @default false */
            revoke_keys?: boolean;
        };
        Roster: {
            users: components["schemas"]["User"][];
            count: number;
        };
        RoleChange: {
            /** @enum {string} */
            role: "admin" | "developer" | "member";
        };
        Invites: {
            invites: components["schemas"]["Invite"][];
            count: number;
        };
        Invite: {
            id: string;
            email: string | null;
            invited_by: string;
            token: string | null;
            /** @enum {string} */
            role: "admin" | "developer" | "member";
            created_at: number;
            expires_at: number;
        };
        InviteCreation: {
            /** Format: email */
            email?: string | null;
            /**
             * @default member
             * @enum {string}
             */
            role?: "admin" | "developer" | "member";
            expires_in?: number;
        };
        InviteLookup: {
            id: string;
            email: string | null;
            invited_by: string;
            token: string | null;
            /** @enum {string} */
            role: "admin" | "developer" | "member";
            created_at: number;
            expires_at: number;
            invited_by_name: string | null;
        };
        NewApiKey: {
            id: string;
            name: string | null;
            hint: string;
            created_at: number;
            last_used_at: number | null;
            expires_at: number | null;
            version: number;
            projects: string[] | null;
            permissions: ("chat" | "predict" | "read" | "write")[] | null;
            requests_per_minute: number | null;
            tokens_per_minute: number | null;
            max_concurrent: number | null;
            key: string;
        };
        KeyCreation: {
            name?: string | null;
            expires_in?: number | null;
            projects?: string[] | null;
            permissions?: ("chat" | "predict" | "read" | "write")[] | null;
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            max_concurrent?: number | null;
        };
        ApiKeys: {
            keys: components["schemas"]["ApiKey"][];
            count: number;
            next_cursor: string | null;
        };
        ApiKey: {
            id: string;
            name: string | null;
            hint: string;
            created_at: number;
            last_used_at: number | null;
            expires_at: number | null;
            version: number;
            projects: string[] | null;
            permissions: ("chat" | "predict" | "read" | "write")[] | null;
            requests_per_minute: number | null;
            tokens_per_minute: number | null;
            max_concurrent: number | null;
        };
        KeyChange: {
            version: number;
            name?: string | null;
            projects?: string[] | null;
            permissions?: ("chat" | "predict" | "read" | "write")[] | null;
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            max_concurrent?: number | null;
        };
        Sessions: {
            sessions: components["schemas"]["Session"][];
            count: number;
        };
        Session: {
            id: string;
            current: boolean;
            user_agent: string | null;
            address: string | null;
            created_at: number;
            last_used_at: number | null;
            expires_at: number;
        };
        ProjectStarters: {
            starters: components["schemas"]["ProjectStarter"][];
            count: number;
        };
        ProjectStarter: {
            id: string;
            name: string;
            description: string;
            provenance: {
                source: string;
                author: string;
                licence: string;
                date: string;
                method: string;
            };
            spec: {
                [key: string]: components["schemas"]["Json"];
            };
            dataset: {
                name: string;
                record_count: number;
                groups: string[];
                records: components["schemas"]["DatasetRecord"][];
            };
        };
        DatasetRecord: {
            id: string;
            group: string | null;
            input: unknown;
            expected: unknown;
            fields: {
                [key: string]: unknown;
            };
            origin?: components["schemas"]["RecordOrigin"];
        };
        Project: {
            id: string;
            name: string;
            /** @enum {string} */
            status: "draft" | "reviewed";
            version: number;
            spec: {
                goal?: string | null;
                task?: string | null;
                system_prompt?: string | null;
                dataset_id?: string | null;
                response_format?: null | {
                    /** @enum {unknown} */
                    type: "text" | "json_object";
                } | {
                    /** @constant */
                    type: "json_schema";
                    json_schema: {
                        name: string;
                        description?: string | null;
                        schema: {
                            [key: string]: components["schemas"]["Json"];
                        };
                        strict?: boolean | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
                record?: {
                    share?: number | null;
                    /** @enum {unknown} */
                    content?: "none" | "full" | null;
                    days?: number | null;
                    mask?: (("email" | "phone" | "card" | "iban" | "ip" | "secret") | {
                        name: string;
                        pattern: string;
                    })[] | null;
                } | null;
                acceptance?: ({
                    metric?: string | null;
                    threshold?: number | null;
                    field?: string | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            };
            created_by: string;
            created_at: number;
            updated_at: number;
            reviewed_version: number | null;
            models: components["schemas"]["Model"][];
            runtime: components["schemas"]["Runtime"];
        };
        Model: {
            id: string;
            project_id: string;
            version: number;
            /** @enum {string} */
            state: "draft" | "registered";
            spec: {
                [key: string]: components["schemas"]["Json"];
            };
            forked_from: {
                model_id: string;
                version: number;
            } | null;
            created_by: string;
            created_at: number;
            updated_at: number;
            registered_at: number | null;
        };
        Runtime: {
            /** @enum {string} */
            state: "not_connected" | "stopped" | "loading" | "ready" | "unavailable";
            model_id: string | null;
            fallbacks: string[];
            split: components["schemas"]["WeightedModel"][] | null;
            targets: components["schemas"]["RuntimeTarget"][];
            reason: string | null;
            /** @enum {string|null} */
            task: "chat" | "embedding" | null;
        };
        WeightedModel: {
            model_id: string;
            weight: number;
        };
        RuntimeTarget: {
            model_id: string;
            share: number;
            /** @enum {string} */
            state: "stopped" | "loading" | "ready" | "unavailable";
            reason: string | null;
            /** @enum {string} */
            breaker: "closed" | "open" | "half_open";
            retry_after: number | null;
        };
        ProjectCreation: {
            name?: string;
            spec?: {
                goal?: string | null;
                task?: string | null;
                system_prompt?: string | null;
                dataset_id?: string | null;
                response_format?: null | {
                    /** @enum {unknown} */
                    type: "text" | "json_object";
                } | {
                    /** @constant */
                    type: "json_schema";
                    json_schema: {
                        name: string;
                        description?: string | null;
                        schema: {
                            [key: string]: components["schemas"]["Json"];
                        };
                        strict?: boolean | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
                record?: {
                    share?: number | null;
                    /** @enum {unknown} */
                    content?: "none" | "full" | null;
                    days?: number | null;
                    mask?: (("email" | "phone" | "card" | "iban" | "ip" | "secret") | {
                        name: string;
                        pattern: string;
                    })[] | null;
                } | null;
                acceptance?: ({
                    metric?: string | null;
                    threshold?: number | null;
                    field?: string | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            };
            starter_id?: string;
            starter?: string;
        };
        ProjectList: {
            projects: components["schemas"]["Project"][];
            conversations: components["schemas"]["Conversation"][];
            count: number;
            next_cursor: string | null;
        };
        Conversation: {
            id: string;
            project_id: string;
            title: string;
            message_count: number;
            created_at: number;
            updated_at: number;
        };
        ProjectUpdate: {
            version: number;
            name?: string;
            spec: {
                goal?: string | null;
                task?: string | null;
                system_prompt?: string | null;
                dataset_id?: string | null;
                response_format?: null | {
                    /** @enum {unknown} */
                    type: "text" | "json_object";
                } | {
                    /** @constant */
                    type: "json_schema";
                    json_schema: {
                        name: string;
                        description?: string | null;
                        schema: {
                            [key: string]: components["schemas"]["Json"];
                        };
                        strict?: boolean | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
                record?: {
                    share?: number | null;
                    /** @enum {unknown} */
                    content?: "none" | "full" | null;
                    days?: number | null;
                    mask?: (("email" | "phone" | "card" | "iban" | "ip" | "secret") | {
                        name: string;
                        pattern: string;
                    })[] | null;
                } | null;
                acceptance?: ({
                    metric?: string | null;
                    threshold?: number | null;
                    field?: string | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            };
        };
        ProjectReview: {
            project_id: string;
            version: number;
            ready: boolean;
            findings: {
                /** @enum {string} */
                level: "blocking" | "warning" | "info";
                code: string;
                path: string;
                message: string;
            }[];
            next_steps: string[];
        };
        ProjectReviewRequest: {
            version: number;
        };
        ProjectVersionList: {
            versions: components["schemas"]["ProjectVersionEntry"][];
            count: number;
            next_cursor: string | null;
        };
        ProjectVersionEntry: {
            version: number;
            created_at: number;
            created_by: string;
            name: string;
        };
        ProjectVersion: {
            version: number;
            created_at: number;
            created_by: string;
            name: string;
            id: string;
            spec: {
                goal?: string | null;
                task?: string | null;
                system_prompt?: string | null;
                dataset_id?: string | null;
                response_format?: null | {
                    /** @enum {unknown} */
                    type: "text" | "json_object";
                } | {
                    /** @constant */
                    type: "json_schema";
                    json_schema: {
                        name: string;
                        description?: string | null;
                        schema: {
                            [key: string]: components["schemas"]["Json"];
                        };
                        strict?: boolean | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
                record?: {
                    share?: number | null;
                    /** @enum {unknown} */
                    content?: "none" | "full" | null;
                    days?: number | null;
                    mask?: (("email" | "phone" | "card" | "iban" | "ip" | "secret") | {
                        name: string;
                        pattern: string;
                    })[] | null;
                } | null;
                acceptance?: ({
                    metric?: string | null;
                    threshold?: number | null;
                    field?: string | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            };
        };
        Datasets: {
            datasets: components["schemas"]["DatasetEntry"][];
            count: number;
            next_cursor: string | null;
        };
        DatasetEntry: {
            record_count: number;
            content_sha256: string | null;
            validation: {
                valid: boolean;
                count: number;
                findings: {
                    code: string;
                    path: string;
                    message: string;
                }[];
            };
            id: string;
            project_id: string;
            name: string;
            version: number;
            /** @enum {string} */
            state: "editable" | "frozen";
            forked_from: {
                dataset_id: string;
                version: number;
            } | null;
            created_by: string;
            created_at: number;
            updated_at: number;
            frozen_at: number | null;
        };
        Dataset: {
            record_count: number;
            content_sha256: string;
            validation: {
                valid: boolean;
                count: number;
                findings: {
                    code: string;
                    path: string;
                    message: string;
                }[];
            };
            id: string;
            project_id: string;
            name: string;
            version: number;
            /** @enum {string} */
            state: "editable" | "frozen";
            forked_from: {
                dataset_id: string;
                version: number;
            } | null;
            created_by: string;
            created_at: number;
            updated_at: number;
            frozen_at: number | null;
            records: components["schemas"]["DatasetRecord"][];
            next_cursor: string | null;
        };
        DatasetImport: {
            name?: string;
            starter_id?: string;
            starter?: string;
            records?: ({
                id?: string | null;
                group?: string | null;
                input?: components["schemas"]["Json"];
                expected?: components["schemas"]["Json"];
                fields?: {
                    [key: string]: components["schemas"]["Json"];
                } | null;
                origin?: components["schemas"]["Json"];
            } & {
                [key: string]: unknown;
            })[];
        } & (unknown | unknown | unknown);
        DatasetUpdate: {
            version: number;
            name?: string;
            records?: ({
                id?: string | null;
                group?: string | null;
                input?: components["schemas"]["Json"];
                expected?: components["schemas"]["Json"];
                fields?: {
                    [key: string]: components["schemas"]["Json"];
                } | null;
                origin?: components["schemas"]["Json"];
            } & {
                [key: string]: unknown;
            })[];
        } | unknown | unknown;
        DatasetFreeze: {
            version?: number;
        };
        DatasetFork: {
            name?: string;
        };
        DatasetVersions: {
            versions: {
                record_count: number;
                content_sha256: string | null;
                version: number;
                created_at: number;
                created_by: string;
                name: string;
            }[];
            count: number;
            next_cursor: string | null;
        };
        DatasetVersion: {
            record_count: number;
            content_sha256: string;
            version: number;
            created_at: number;
            created_by: string;
            name: string;
            id: string;
            project_id: string;
            records: components["schemas"]["DatasetRecord"][];
            next_cursor: string | null;
            validation: {
                valid: boolean;
                count: number;
                findings: {
                    code: string;
                    path: string;
                    message: string;
                }[];
            };
        };
        DatasetComparison: {
            dataset: {
                dataset_id: string;
                version: number;
            };
            with: {
                dataset_id: string;
                version: number;
            };
            counts: {
                added: number;
                removed: number;
                changed: number;
            };
            added: components["schemas"]["DatasetRecord"][];
            removed: components["schemas"]["DatasetRecord"][];
            changed: {
                id: string;
                fields: string[];
                before?: components["schemas"]["DatasetRecord"];
                after?: components["schemas"]["DatasetRecord"];
            }[];
            unchanged: number;
            next_cursor: string | null;
        };
        DatasetRecords: {
            dataset_id: string;
            version: number;
            records: components["schemas"]["DatasetRecord"][];
            count: number;
            next_cursor: string | null;
        };
        DatasetAppended: {
            dataset_id: string;
            version: number;
            record_count: number;
            added: string[];
            duplicates: number;
        };
        DatasetAppendix: {
            version?: number;
            records?: ({
                id?: string | null;
                group?: string | null;
                input?: components["schemas"]["Json"];
                expected?: components["schemas"]["Json"];
                fields?: {
                    [key: string]: components["schemas"]["Json"];
                } | null;
                origin?: components["schemas"]["Json"];
            } & {
                [key: string]: unknown;
            })[];
            from_calls?: {
                call_id: string;
                /**
                 * @default answer
                 * @enum {string}
                 */
                expected?: "answer" | "correction" | "none";
            }[];
        } & (unknown | unknown);
        ChangedDatasetRecord: {
            id: string;
            group: string | null;
            input: string | number | boolean | null | unknown[] | Record<string, never>;
            expected: string | number | boolean | null | unknown[] | Record<string, never>;
            fields: {
                [key: string]: components["schemas"]["Json"];
            };
            origin?: components["schemas"]["RecordOrigin"];
            dataset_id: string;
            version: number;
        };
        RecordOrigin: {
            call_id?: string;
            job_id?: string;
            record_id?: string;
            model_id?: string;
            at?: number;
        };
        DatasetRecordUpdate: {
            version: number;
            id?: string | number | boolean | null | unknown[] | Record<string, never>;
            group?: string | number | boolean | null | unknown[] | Record<string, never>;
            input?: string | number | boolean | null | unknown[] | Record<string, never>;
            expected?: string | number | boolean | null | unknown[] | Record<string, never>;
            fields?: string | number | boolean | null | unknown[] | Record<string, never>;
        } | unknown | unknown | unknown | unknown | unknown;
        DeletedDatasetRecord: {
            id: string;
            /** @enum {boolean} */
            deleted: true;
            version: number;
        };
        DatasetRecordRemoval: {
            version?: number;
        };
        ModelCreation: {
            /** Format: uuid */
            request_id: string;
            spec: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        Models: {
            models: components["schemas"]["Model"][];
            count: number;
            next_cursor: string | null;
        };
        ModelUpdate: {
            version: number;
            spec: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        ModelRegistration: {
            version?: number;
            expected_version?: number;
        } | unknown | unknown;
        ModelFork: {
            /** Format: uuid */
            request_id?: string;
        };
        ModelVersions: {
            versions: {
                version: number;
                created_at: number;
                created_by: string;
            }[];
            count: number;
            next_cursor: string | null;
        };
        ModelVersion: {
            version: number;
            created_at: number;
            created_by: string;
            id: string;
            project_id: string;
            spec: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        ModelAliases: {
            aliases: components["schemas"]["ListedModelAlias"][];
            count: number;
        };
        ListedModelAlias: {
            alias: string;
            project_id: string;
            model_id: string;
            version: number;
            updated_at: number;
            updated_by: string;
        };
        ModelAlias: {
            alias: string;
            project_id: string;
            model_id: string;
            version: number;
            updated_at: number;
            updated_by: string;
            history: {
                version: number;
                model_id: string | null;
                changed_at: number;
                changed_by: string;
            }[];
        };
        ModelAliasTarget: {
            model_id: string;
            version?: number;
        };
        FoundObjects: {
            found: components["schemas"]["FoundObject"][];
            count: number;
        };
        FoundObject: {
            /** @enum {string} */
            kind: "project" | "dataset" | "model";
            id: string;
            name: string | null;
            project_id: string;
            project_name: string;
        };
        InstanceRuntime: {
            /** @enum {string} */
            state: "not_connected" | "stopped" | "loading" | "ready" | "unavailable";
            model_id: string | null;
            fallbacks: string[];
            split: components["schemas"]["WeightedModel"][] | null;
            targets: components["schemas"]["RuntimeTarget"][];
            reason: string | null;
            /** @enum {string|null} */
            task: "chat" | "embedding" | null;
            instance: string;
        };
        RuntimeConnection: {
            model_id?: string | null;
            fallbacks?: string[] | null;
            split?: {
                model_id: string;
                weight: number;
            }[] | null;
        };
        RuntimeDisconnected: {
            /** @enum {string} */
            state: "not_connected" | "stopped" | "loading" | "ready" | "unavailable";
            model_id: string | null;
            fallbacks: string[];
            split: components["schemas"]["WeightedModel"][] | null;
            targets: components["schemas"]["RuntimeTarget"][];
            reason: string | null;
            /** @enum {string|null} */
            task: "chat" | "embedding" | null;
            instance: string;
            id: string;
            /** @enum {boolean} */
            deleted: true;
        };
        ChatCompletion: {
            id: string;
            /** @enum {string} */
            object: "chat.completion";
            created: number;
            model: string;
            choices: {
                index: number;
                message: {
                    /** @enum {string} */
                    role: "assistant";
                    content: string;
                };
                /** @enum {string} */
                finish_reason: "stop" | "length";
            }[];
            usage: {
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
                prompt_tokens_details: {
                    cached_tokens: number;
                };
            } | null;
        };
        ChatCompletionRequest: {
            model: string;
            messages: components["schemas"]["ChatMessage"][];
            max_tokens?: number;
            /** @default 0 */
            temperature?: number;
            /**
             * @default false
             * @constant
             */
            stream?: false;
        };
        ChatMessage: {
            /** @enum {string} */
            role: "system" | "user" | "assistant";
            content: string;
        };
        Conversations: {
            conversations: components["schemas"]["Conversation"][];
            count: number;
            next_cursor: string | null;
        };
        ConversationWithMessages: {
            id: string;
            project_id: string;
            title: string;
            message_count: number;
            created_at: number;
            updated_at: number;
            messages: components["schemas"]["ConversationMessage"][];
            next_cursor: string | null;
        };
        ConversationMessage: {
            /** @enum {string} */
            role: "system" | "user" | "assistant" | "tool";
            content: string;
            created_at: number;
        };
        OpenAiModels: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["OpenAiModel"][];
        };
        OpenAiModel: {
            id: string;
            /** @enum {string} */
            object: "model";
            created: number;
            owned_by: string;
            project_id: string;
            context_length: number | null;
        };
        OpenAiChatCompletion: {
            id: string;
            created: number;
            model: string;
            /** @enum {string} */
            object: "chat.completion";
            choices: ({
                index?: number;
                message: {
                    /** @enum {string} */
                    role: "assistant";
                    content?: string | null;
                    refusal?: string | null;
                    tool_calls?: ({
                        index?: number;
                        id?: string | null;
                        type?: string | null;
                        function?: ({
                            name?: string | null;
                            arguments?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    })[] | null;
                    function_call?: ({
                        name?: string | null;
                        arguments?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                } & {
                    [key: string]: unknown;
                };
                logprobs?: {
                    content: {
                        token: string;
                        bytes: number[];
                        logprob: number;
                        top_logprobs: {
                            token: string;
                            bytes: number[];
                            logprob: number;
                        }[];
                    }[];
                    refusal: null;
                } | null;
                finish_reason?: string | null;
            } & {
                [key: string]: unknown;
            })[];
            usage?: ({
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens?: number;
                prompt_tokens_details?: ({
                    cached_tokens?: number | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        ChatCompletionChunk: {
            id: string;
            created: number;
            model: string;
            /** @enum {string} */
            object: "chat.completion.chunk";
            choices: ({
                index?: number;
                delta?: ({
                    /** @enum {string} */
                    role?: "assistant";
                    content?: string | null;
                    tool_calls?: ({
                        index?: number;
                        id?: string | null;
                        type?: string | null;
                        function?: ({
                            name?: string | null;
                            arguments?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    })[] | null;
                    function_call?: ({
                        name?: string | null;
                        arguments?: string | null;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                } & {
                    [key: string]: unknown;
                }) | null;
                logprobs?: {
                    content: {
                        token: string;
                        bytes: number[];
                        logprob: number;
                        top_logprobs: {
                            token: string;
                            bytes: number[];
                            logprob: number;
                        }[];
                    }[];
                    refusal: null;
                } | null;
                finish_reason?: string | null;
            } & {
                [key: string]: unknown;
            })[];
            usage?: ({
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens?: number;
                prompt_tokens_details?: ({
                    cached_tokens?: number | null;
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        OpenAiError: {
            error: components["schemas"]["OpenAiProblem"];
        };
        OpenAiProblem: {
            message: string;
            /** @enum {string} */
            type: "invalid_request_error" | "authentication_error" | "permission_error" | "rate_limit_error" | "server_error";
            param: string | null;
            code: string;
        };
        OpenAiChatRequest: {
            model: string;
            messages: components["schemas"]["OpenAiChatMessage"][];
            stream?: boolean | null;
            max_completion_tokens?: number | null;
            max_tokens?: number | null;
            temperature?: number | null;
            top_p?: number | null;
            top_k?: number | null;
            min_p?: number | null;
            repetition_penalty?: number | null;
            seed?: number | null;
            stop?: string | string[] | null;
            presence_penalty?: number | null;
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            logprobs?: boolean | null;
            top_logprobs?: number | null;
            n?: number | null;
            stream_options?: {
                include_usage?: boolean | null;
                include_obfuscation?: boolean | null;
            } | null;
            response_format?: components["schemas"]["TextFormat"] | components["schemas"]["JsonObjectFormat"] | components["schemas"]["JsonSchemaFormat"] | null;
            tools?: components["schemas"]["ChatTool"][] | null;
            tool_choice?: ("none" | "auto" | "required") | {
                /** @enum {string} */
                type: "function";
                function: {
                    name: string;
                };
            } | {
                /** @enum {string} */
                type: "allowed_tools";
                allowed_tools: {
                    /** @enum {string} */
                    mode: "auto" | "required";
                    tools: {
                        /** @enum {string} */
                        type: "function";
                        function: {
                            name: string;
                        };
                    }[];
                };
            } | null;
            parallel_tool_calls?: boolean | null;
            functions?: {
                name: string;
                description?: string | null;
                parameters?: {
                    [key: string]: components["schemas"]["Json"];
                };
            }[] | null;
            function_call?: ("none" | "auto") | {
                name: string;
            } | null;
            modalities?: "text"[] | null;
            user?: string | number | boolean | null | unknown[] | Record<string, never>;
            metadata?: string | number | boolean | null | unknown[] | Record<string, never>;
            store?: string | number | boolean | null | unknown[] | Record<string, never>;
            service_tier?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_key?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_retention?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_options?: string | number | boolean | null | unknown[] | Record<string, never>;
            prediction?: string | number | boolean | null | unknown[] | Record<string, never>;
            safety_identifier?: string | number | boolean | null | unknown[] | Record<string, never>;
            reasoning_effort?: string | number | boolean | null | unknown[] | Record<string, never>;
            chat_template_kwargs?: {
                [key: string]: components["schemas"]["Json"];
            };
            verbosity?: string | number | boolean | null | unknown[] | Record<string, never>;
            audio?: null;
            web_search_options?: null;
            moderation?: null;
        } & {
            [key: string]: unknown;
        };
        OpenAiChatMessage: {
            /** @enum {string} */
            role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
            content?: string | (components["schemas"]["ChatTextPart"] | components["schemas"]["ChatOtherPart"])[] | null;
            name?: string | null;
            tool_calls?: ({
                id: string;
                function: {
                    name: string;
                    arguments: string;
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            })[] | null;
            tool_call_id?: string | null;
            refusal?: string | null;
            audio?: null;
            function_call?: ({
                name: string;
                arguments: string;
            } & {
                [key: string]: unknown;
            }) | null;
            reasoning_content?: string | null;
            annotations?: string | number | boolean | null | unknown[] | Record<string, never>;
            parsed?: string | number | boolean | null | unknown[] | Record<string, never>;
        };
        ChatTextPart: {
            /** @enum {string} */
            type: "text";
            text: string;
            cache_control?: string | number | boolean | null | unknown[] | Record<string, never>;
        };
        ChatOtherPart: {
            type: string;
        } & {
            [key: string]: unknown;
        };
        TextFormat: {
            /** @enum {string} */
            type: "text";
        };
        JsonObjectFormat: {
            /** @enum {string} */
            type: "json_object";
            schema?: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        JsonSchemaFormat: {
            /** @enum {string} */
            type: "json_schema";
            json_schema: {
                name: string;
                description?: string | null;
                schema: {
                    [key: string]: components["schemas"]["Json"];
                };
                strict?: boolean | null;
            };
        };
        ChatTool: {
            /** @enum {string} */
            type: "function";
            function: {
                name: string;
                description?: string | null;
                parameters?: {
                    [key: string]: components["schemas"]["Json"];
                };
                strict?: boolean | null;
            };
        };
        OpenAiCompletion: {
            id: string;
            /** @enum {string} */
            object: "text_completion";
            created: number;
            model: string;
            choices: ({
                index?: number;
                text?: string | null;
                logprobs?: string | number | boolean | null | unknown[] | Record<string, never>;
                finish_reason?: string | null;
            } & {
                [key: string]: unknown;
            })[];
            usage?: ({
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens?: number;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        OpenAiCompletionRequest: {
            model: string;
            stream?: boolean | null;
            prompt: string | string[];
            max_tokens?: number | null;
            temperature?: number | null;
            top_p?: number | null;
            top_k?: number | null;
            min_p?: number | null;
            repetition_penalty?: number | null;
            seed?: number | null;
            stop?: string | string[] | null;
            presence_penalty?: number | null;
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            n?: number | null;
            best_of?: number | null;
            echo?: boolean | null;
            logprobs?: number | null;
            suffix?: null;
            stream_options?: {
                include_usage?: boolean | null;
                include_obfuscation?: boolean | null;
            } | null;
            user?: string | number | boolean | null | unknown[] | Record<string, never>;
            store?: string | number | boolean | null | unknown[] | Record<string, never>;
            metadata?: string | number | boolean | null | unknown[] | Record<string, never>;
            service_tier?: string | number | boolean | null | unknown[] | Record<string, never>;
            safety_identifier?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_key?: string | number | boolean | null | unknown[] | Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        Response: {
            id: string;
            /** @enum {string} */
            object: "response";
            created_at: number;
            /** @enum {string} */
            status: "completed" | "incomplete" | "failed" | "cancelled" | "queued" | "in_progress";
            background: boolean;
            completed_at: number | null;
            error: {
                /** @enum {string} */
                code: "server_error" | "rate_limit_exceeded";
                message: string;
            } | null;
            incomplete_details: {
                /** @enum {string} */
                reason: "max_output_tokens";
            } | null;
            previous_response_id: string | null;
            output: components["schemas"]["ResponseOutputItem"][];
            usage: {
                input_tokens: number;
                input_tokens_details: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                };
                output_tokens: number;
                output_tokens_details: {
                    reasoning_tokens: number;
                };
                total_tokens: number;
            } | null;
            model: string;
        } & {
            [key: string]: unknown;
        };
        ResponseOutputItem: {
            id: string;
            type: string;
        } & {
            [key: string]: unknown;
        };
        ResponseEvent: {
            type: string;
            sequence_number: number;
        } & {
            [key: string]: unknown;
        };
        ResponsesRequest: {
            model: string;
            input?: string | components["schemas"]["ResponseInputItem"][] | null;
            instructions?: string | null;
            previous_response_id?: string | null;
            text?: ({
                format?: components["schemas"]["ResponseTextFormat"] | components["schemas"]["ResponseJsonObjectFormat"] | components["schemas"]["ResponseJsonSchemaFormat"] | null;
                verbosity?: string | number | boolean | null | unknown[] | Record<string, never>;
            } & {
                [key: string]: unknown;
            }) | null;
            tools?: components["schemas"]["ResponseTool"][] | null;
            tool_choice?: ("auto" | "none" | "required") | ({
                type: string;
            } & {
                [key: string]: unknown;
            }) | null;
            parallel_tool_calls?: boolean | null;
            reasoning?: ({
                effort?: string | null;
                summary?: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
            /** @enum {string|null} */
            truncation?: "auto" | "disabled" | null;
            conversation?: null;
            stream?: boolean | null;
            stream_options?: {
                [key: string]: unknown;
            } | null;
            store?: boolean | null;
            background?: boolean | null;
            include?: string[] | null;
            max_output_tokens?: number | null;
            top_logprobs?: number | null;
            metadata?: {
                [key: string]: components["schemas"]["Json"];
            };
            temperature?: number | null;
            top_p?: number | null;
            top_k?: number | null;
            min_p?: number | null;
            repetition_penalty?: number | null;
            seed?: number | null;
            stop?: string | string[] | null;
            presence_penalty?: number | null;
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            chat_template_kwargs?: {
                [key: string]: components["schemas"]["Json"];
            };
            user?: string | number | boolean | null | unknown[] | Record<string, never>;
            safety_identifier?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_key?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_retention?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt_cache_options?: string | number | boolean | null | unknown[] | Record<string, never>;
            service_tier?: string | number | boolean | null | unknown[] | Record<string, never>;
            client_metadata?: string | number | boolean | null | unknown[] | Record<string, never>;
            max_tool_calls?: string | number | boolean | null | unknown[] | Record<string, never>;
            context_management?: string | number | boolean | null | unknown[] | Record<string, never>;
            moderation?: string | number | boolean | null | unknown[] | Record<string, never>;
            personality?: string | number | boolean | null | unknown[] | Record<string, never>;
            prompt?: null;
        } & {
            [key: string]: unknown;
        };
        ResponseInputItem: {
            type?: string;
            role?: string;
        } & {
            [key: string]: unknown;
        };
        ResponseTextFormat: {
            /** @enum {string} */
            type: "text";
        };
        ResponseJsonObjectFormat: {
            /** @enum {string} */
            type: "json_object";
        };
        ResponseJsonSchemaFormat: {
            /** @enum {string} */
            type: "json_schema";
            name: string;
            description?: string | null;
            schema: {
                [key: string]: components["schemas"]["Json"];
            };
            strict?: boolean | null;
        };
        ResponseTool: {
            type: string;
        } & {
            [key: string]: unknown;
        };
        ResponseInputTokens: {
            /** @enum {string} */
            object: "response.input_tokens";
            input_tokens: number;
        };
        ResponseDeleted: {
            id: string;
            /** @enum {string} */
            object: "response";
            /** @enum {boolean} */
            deleted: true;
        };
        ResponseItems: {
            /** @enum {string} */
            object: "list";
            data: ({
                id: string;
            } & {
                [key: string]: unknown;
            })[];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
        };
        OpenAiEmbeddings: {
            /** @enum {string} */
            object: "list";
            data: ({
                /** @enum {string} */
                object: "embedding";
                index: number;
                embedding: number[] | string;
            } & {
                [key: string]: unknown;
            })[];
            model: string;
            usage?: ({
                prompt_tokens: number;
                total_tokens?: number;
            } & {
                [key: string]: unknown;
            }) | null;
        } & {
            [key: string]: unknown;
        };
        OpenAiEmbeddingsRequest: {
            model: string;
            input: string | string[];
            /** @enum {string|null} */
            encoding_format?: "float" | "base64" | null;
            dimensions?: number | null;
            user?: string | number | boolean | null | unknown[] | Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        AnthropicMessage: {
            id: string;
            /** @enum {string} */
            type: "message";
            /** @enum {string} */
            role: "assistant";
            model: string;
            content: (components["schemas"]["AnthropicText"] | components["schemas"]["AnthropicToolUse"] | components["schemas"]["AnthropicThinking"])[];
            /** @enum {string|null} */
            stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | null;
            stop_sequence: string | null;
            usage: {
                input_tokens: number;
                cache_creation_input_tokens: number | null;
                cache_read_input_tokens: number | null;
                output_tokens: number;
            };
        };
        AnthropicText: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            text: string;
        };
        AnthropicToolUse: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_use";
            id: string;
            name: string;
            input: {
                [key: string]: components["schemas"]["Json"];
            };
        };
        AnthropicThinking: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "thinking";
            thinking: string;
            /** @enum {string} */
            signature: "";
        };
        AnthropicMessageEvent: {
            /** @enum {string} */
            type: "message_start";
            message: components["schemas"]["AnthropicMessage"];
        } | {
            /** @enum {string} */
            type: "ping";
        } | {
            /** @enum {string} */
            type: "content_block_start";
            index: number;
            content_block: components["schemas"]["AnthropicText"] | components["schemas"]["AnthropicToolUse"] | components["schemas"]["AnthropicThinking"];
        } | {
            /** @enum {string} */
            type: "content_block_delta";
            index: number;
            delta: {
                /** @enum {string} */
                type: "text_delta";
                text: string;
            } | {
                /** @enum {string} */
                type: "input_json_delta";
                partial_json: string;
            } | {
                /** @enum {string} */
                type: "thinking_delta";
                thinking: string;
            };
        } | {
            /** @enum {string} */
            type: "content_block_stop";
            index: number;
        } | {
            /** @enum {string} */
            type: "message_delta";
            delta: {
                /** @enum {string|null} */
                stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | null;
                stop_sequence: string | null;
            };
            usage: {
                input_tokens: number;
                cache_creation_input_tokens: number | null;
                cache_read_input_tokens: number | null;
                output_tokens: number;
            };
        } | {
            /** @enum {string} */
            type: "message_stop";
        } | components["schemas"]["AnthropicError"];
        AnthropicError: {
            /** @enum {string} */
            type: "error";
            error: components["schemas"]["AnthropicProblem"];
            request_id: string;
        };
        AnthropicProblem: {
            /** @enum {string} */
            type: "invalid_request_error" | "authentication_error" | "permission_error" | "not_found_error" | "request_too_large" | "rate_limit_error" | "timeout_error" | "api_error" | "overloaded_error";
            message: string;
            details: {
                error_code: string;
                unsupported?: string[];
            };
        };
        AnthropicMessagesRequest: {
            model: string;
            messages: components["schemas"]["AnthropicMessageParam"][];
            system?: string | components["schemas"]["AnthropicTextBlock"][] | null;
            tools?: components["schemas"]["AnthropicTool"][] | null;
            tool_choice?: ({
                /** @enum {string} */
                type: "auto";
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "any";
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "tool";
                name: string;
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "none";
            } & {
                [key: string]: unknown;
            }) | null;
            thinking?: ({
                /** @enum {string} */
                type: "enabled";
                budget_tokens: number;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "adaptive";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "between_tools";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "disabled";
            } & {
                [key: string]: unknown;
            }) | null;
            output_config?: ({
                effort?: string | null;
                format?: ({
                    /** @enum {string} */
                    type: "json_schema";
                    schema: {
                        [key: string]: components["schemas"]["Json"];
                    };
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            }) | null;
            cache_control?: string | number | boolean | null | unknown[] | Record<string, never>;
            context_management?: string | number | boolean | null | unknown[] | Record<string, never>;
            speed?: string | number | boolean | null | unknown[] | Record<string, never>;
            user_profile_id?: string | number | boolean | null | unknown[] | Record<string, never>;
            workspace_id?: string | number | boolean | null | unknown[] | Record<string, never>;
            max_tokens: number;
            stream?: boolean | null;
            stop_sequences?: string[] | null;
            temperature?: number | null;
            top_p?: number | null;
            top_k?: number | null;
            metadata?: {
                [key: string]: components["schemas"]["Json"];
            };
            container?: string | number | boolean | null | unknown[] | Record<string, never>;
            diagnostics?: string | number | boolean | null | unknown[] | Record<string, never>;
            inference_geo?: string | number | boolean | null | unknown[] | Record<string, never>;
            service_tier?: string | number | boolean | null | unknown[] | Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        AnthropicMessageParam: {
            /** @enum {string} */
            role: "user" | "assistant" | "system";
            content: string | (components["schemas"]["AnthropicTextBlock"] | components["schemas"]["AnthropicImageBlock"] | components["schemas"]["AnthropicToolUseBlock"] | components["schemas"]["AnthropicToolResultBlock"] | components["schemas"]["AnthropicThinkingBlock"] | components["schemas"]["AnthropicRedactedBlock"])[];
        } & {
            [key: string]: unknown;
        };
        AnthropicTextBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            text: string;
        } & {
            [key: string]: unknown;
        };
        AnthropicImageBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
            source: ({
                /** @enum {string} */
                type: "base64";
                media_type: string;
                data: string;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "url";
                url: string;
            } & {
                [key: string]: unknown;
            });
        } & {
            [key: string]: unknown;
        };
        AnthropicToolUseBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_use";
            id: string;
            name: string;
            input: string | number | boolean | null | unknown[] | Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        AnthropicToolResultBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_result";
            tool_use_id: string;
            content?: string | (components["schemas"]["AnthropicTextBlock"] | components["schemas"]["AnthropicImageBlock"])[] | null;
            is_error?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        AnthropicThinkingBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "thinking";
            thinking: string;
        } & {
            [key: string]: unknown;
        };
        AnthropicRedactedBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "redacted_thinking";
        } & {
            [key: string]: unknown;
        };
        AnthropicTool: {
            type?: string | null;
            name: string;
            description?: string | null;
            input_schema?: {
                [key: string]: components["schemas"]["Json"];
            };
            strict?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        AnthropicTokenCount: {
            input_tokens: number;
        };
        AnthropicCountTokensRequest: {
            model: string;
            messages: components["schemas"]["AnthropicMessageParam"][];
            system?: string | components["schemas"]["AnthropicTextBlock"][] | null;
            tools?: components["schemas"]["AnthropicTool"][] | null;
            tool_choice?: ({
                /** @enum {string} */
                type: "auto";
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "any";
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "tool";
                name: string;
                disable_parallel_tool_use?: boolean | null;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "none";
            } & {
                [key: string]: unknown;
            }) | null;
            thinking?: ({
                /** @enum {string} */
                type: "enabled";
                budget_tokens: number;
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "adaptive";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "between_tools";
            } & {
                [key: string]: unknown;
            }) | ({
                /** @enum {string} */
                type: "disabled";
            } & {
                [key: string]: unknown;
            }) | null;
            output_config?: ({
                effort?: string | null;
                format?: ({
                    /** @enum {string} */
                    type: "json_schema";
                    schema: {
                        [key: string]: components["schemas"]["Json"];
                    };
                } & {
                    [key: string]: unknown;
                }) | null;
            } & {
                [key: string]: unknown;
            }) | null;
            cache_control?: string | number | boolean | null | unknown[] | Record<string, never>;
            context_management?: string | number | boolean | null | unknown[] | Record<string, never>;
            speed?: string | number | boolean | null | unknown[] | Record<string, never>;
            user_profile_id?: string | number | boolean | null | unknown[] | Record<string, never>;
            workspace_id?: string | number | boolean | null | unknown[] | Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        Calls: {
            calls: components["schemas"]["Call"][];
            count: number;
            next_cursor: string | null;
        };
        Call: {
            id: string;
            answer_id: string | null;
            project_id: string;
            /** @enum {string} */
            kind: "chat" | "embedding" | "prediction";
            /** @enum {string} */
            status: "succeeded" | "failed" | "cancelled";
            failure: string | null;
            model_id: string | null;
            account_id: string;
            key_id: string | null;
            created_at: number;
            started_at: number | null;
            finished_at: number;
            duration: number | null;
            /** @enum {string} */
            content: "full" | "none" | "unmaskable";
            request: string | number | boolean | null | unknown[] | Record<string, never>;
            answer: string | number | boolean | null | unknown[] | Record<string, never>;
            truncated: boolean;
            usage: components["schemas"]["CallTokens"];
            cost: string | null;
            currency: string;
            attempts: components["schemas"]["CallAttempt"][];
            feedback: components["schemas"]["Feedback"][];
            expires_at: number;
        };
        CallTokens: {
            tokens_in: number | null;
            tokens_out: number | null;
            time_to_first_token: number | null;
        } | null;
        CallAttempt: {
            model_id: string;
            outcome: string;
            ms: number;
        };
        Feedback: {
            id: string;
            account_id: string;
            key_id: string | null;
            score: number | null;
            label: string | null;
            comment: string | null;
            correction: string | number | boolean | null | unknown[] | Record<string, never>;
            created_at: number;
            is_current: boolean;
        };
        FeedbackRequest: {
            /** @default null */
            score?: number | null;
            label?: string | null;
            /** @default null */
            comment?: string | null;
            correction?: string | number | boolean | null | unknown[] | Record<string, never>;
        } | unknown | unknown | unknown | unknown;
        Job: {
            id: string;
            /** @enum {string} */
            kind: "chat" | "embedding" | "prediction" | "external" | "evaluation";
            /** @enum {string} */
            mode: "async" | "sync";
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            name: string | null;
            project_id: string | null;
            dataset_id: string | null;
            model_id: string | null;
            requested_by: string;
            created_at: number;
            started_at: number | null;
            finished_at: number | null;
            duration: number | null;
            progress: components["schemas"]["Progress"];
            result: string | number | boolean | null | unknown[] | Record<string, never>;
            error: string | null;
            usage: {
                tokens_in: number | null;
                tokens_out: number | null;
                time_to_first_token: number | null;
                calls: number | null;
                seconds: number | null;
            } | null;
            cost: string | null;
            currency: string;
            attempts: components["schemas"]["Attempt"][] | null;
        };
        Progress: {
            done: number;
            total: number | null;
        };
        Attempt: {
            model_id: string;
            outcome: string;
            ms: number;
        };
        NewExternalJob: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "external";
            name: string;
            project_id?: string | null;
            /**
             * @default running
             * @enum {string}
             */
            status?: "queued" | "running";
            progress?: components["schemas"]["ProgressReport"];
        };
        ProgressReport: {
            done: number;
            total?: number | null;
        };
        NewEvaluation: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "evaluation";
            name?: string;
            project_id: string;
            dataset_id: string;
            model_id?: string | null;
        };
        Jobs: {
            jobs: components["schemas"]["Job"][];
            count: number;
            next_cursor: string | null;
        };
        JobChange: {
            /** @enum {string} */
            status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            progress?: components["schemas"]["ProgressReport"];
            result?: string | number | boolean | null | unknown[] | Record<string, never>;
            error?: string | null;
        };
        EvaluationResults: {
            results: components["schemas"]["EvaluationResult"][];
            count: number;
            next_cursor: string | null;
        };
        EvaluationResult: {
            record_id: string;
            group: string | null;
            input: string | number | boolean | null | unknown[] | Record<string, never>;
            expected: string | number | boolean | null | unknown[] | Record<string, never>;
            output: string | null;
            score: 0 | 1;
            latency: number;
            tokens: {
                prompt: number;
                completion: number;
            } | null;
            error: string | null;
            model_id: string | null;
        };
        EvaluationComparison: {
            job_id: string;
            with: string;
            before: components["schemas"]["Share"];
            after: components["schemas"]["Share"];
            turned_right: number;
            turned_wrong: number;
            groups: {
                group: string | null;
                before: components["schemas"]["Share"];
                after: components["schemas"]["Share"];
                turned_right: number;
                turned_wrong: number;
            }[];
            right: {
                record_id: string;
                group: string | null;
            }[];
            wrong: {
                record_id: string;
                group: string | null;
            }[];
            changed: {
                record_id: string;
                group: string | null;
            }[];
            latency: {
                before: number;
                after: number;
            } | null;
            tokens: {
                before: {
                    prompt: number;
                    completion: number;
                };
                after: {
                    prompt: number;
                    completion: number;
                };
            } | null;
        };
        Share: {
            count: number;
            right: number;
            accuracy: number;
            interval: number[];
        };
        UsageSummary: {
            since: number;
            until: number;
            currency: string;
            usage: components["schemas"]["Usage"][];
            count: number;
        };
        Usage: {
            start: number;
            group: string | null;
            calls: number;
            failures: {
                [key: string]: number;
            };
            tokens_in: number;
            tokens_out: number;
            latency: {
                p50: number;
                p95: number;
                p99: number;
            };
            time_to_first_token: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            cost: string | null;
        };
        Budgets: {
            budgets: components["schemas"]["Budget"][];
            count: number;
            next_cursor: string | null;
        };
        Budget: {
            id: string;
            /** @enum {string} */
            scope: "team" | "project" | "account" | "key";
            scope_id: string;
            /** @enum {string} */
            unit: "cost" | "tokens" | "calls" | "seconds";
            limit: number;
            /** @enum {string} */
            period: "minute" | "hour" | "day" | "week" | "month" | "total";
            /** @enum {string} */
            on_exceed: "refuse" | "alert";
            created_by: string;
            created_at: number;
            settled: string;
            held: string;
            remaining: string;
            resets_at: number | null;
            currency: string;
        };
        NewBudget: {
            /** @enum {string} */
            scope: "team" | "project" | "account" | "key";
            scope_id: string;
            /** @enum {string} */
            unit: "cost" | "tokens" | "calls" | "seconds";
            limit: number;
            /** @enum {string} */
            period: "minute" | "hour" | "day" | "week" | "month" | "total";
            /**
             * @default refuse
             * @enum {string}
             */
            on_exceed?: "refuse" | "alert";
        };
        BudgetChange: {
            limit?: number;
            /** @enum {string} */
            on_exceed?: "refuse" | "alert";
        };
        AlertRules: {
            rules: components["schemas"]["AlertRule"][];
            count: number;
        };
        AlertRule: {
            id: string;
            name: string;
            /** @enum {string} */
            rule_type: "consecutive_failures" | "job_duration_exceeded" | "budget_used" | "latency_p95" | "error_rate";
            threshold: number;
            enabled: boolean;
            created_at: number;
            /** @enum {string} */
            severity: "P1" | "P2" | "P3" | "P4";
            /** @enum {string|null} */
            job_kind: "chat" | "embedding" | "prediction" | "external" | "evaluation" | null;
            budget_id: string | null;
            budget: {
                /** @enum {string} */
                scope: "team" | "project" | "account" | "key";
                scope_id: string;
                /** @enum {string} */
                unit: "cost" | "tokens" | "calls" | "seconds";
                /** @enum {string} */
                period: "minute" | "hour" | "day" | "week" | "month" | "total";
            } | null;
            window_minutes: number | null;
            min_calls: number | null;
        };
        NewAlertRule: {
            name: string;
            /** @enum {string} */
            rule_type: "consecutive_failures" | "job_duration_exceeded" | "budget_used" | "latency_p95" | "error_rate";
            threshold: number;
            /** @enum {string|null} */
            severity?: "P1" | "P2" | "P3" | "P4" | null;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | "external" | "evaluation" | null;
            budget_id?: string | null;
            window_minutes?: number | null;
            min_calls?: number | null;
        } | {
            /** @constant */
            rule_type?: "consecutive_failures";
            threshold?: number;
            budget_id?: null;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "job_duration_exceeded";
            budget_id?: null;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "budget_used";
            threshold?: number;
            budget_id: string;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "latency_p95";
            threshold?: number;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | null;
            budget_id?: null;
            window_minutes: number;
            min_calls: number;
        } | {
            /** @constant */
            rule_type?: "error_rate";
            threshold?: number;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | null;
            budget_id?: null;
            window_minutes: number;
            min_calls: number;
        };
        AlertRuleOutcome: {
            alerts: components["schemas"]["WouldBeAlert"][];
            count: number;
            jobs_considered: number;
        };
        WouldBeAlert: {
            rule_name: string;
            /** @enum {string} */
            rule_type: "consecutive_failures" | "job_duration_exceeded" | "budget_used" | "latency_p95" | "error_rate";
            /** @enum {string} */
            severity: "P1" | "P2" | "P3" | "P4";
            title: string;
            message: string;
            job_id: string;
            created_at: number;
        };
        AlertRulePreview: {
            name: string;
            /** @enum {string} */
            rule_type: "consecutive_failures" | "job_duration_exceeded" | "budget_used" | "latency_p95" | "error_rate";
            threshold: number;
            /** @enum {string|null} */
            severity?: "P1" | "P2" | "P3" | "P4" | null;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | "external" | "evaluation" | null;
            budget_id?: string | null;
            window_minutes?: number | null;
            min_calls?: number | null;
            since?: number | null;
        } | {
            /** @constant */
            rule_type?: "consecutive_failures";
            threshold?: number;
            budget_id?: null;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "job_duration_exceeded";
            budget_id?: null;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "budget_used";
            threshold?: number;
            budget_id: string;
            window_minutes?: null;
            min_calls?: null;
        } | {
            /** @constant */
            rule_type?: "latency_p95";
            threshold?: number;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | null;
            budget_id?: null;
            window_minutes: number;
            min_calls: number;
        } | {
            /** @constant */
            rule_type?: "error_rate";
            threshold?: number;
            /** @enum {string|null} */
            job_kind?: "chat" | "embedding" | "prediction" | null;
            budget_id?: null;
            window_minutes: number;
            min_calls: number;
        };
        AlertRuleChange: {
            name?: string;
            threshold?: number;
            /** @enum {string} */
            severity?: "P1" | "P2" | "P3" | "P4";
            enabled?: boolean;
        };
        Alerts: {
            alerts: components["schemas"]["Alert"][];
            count: number;
            next_cursor: string | null;
        };
        Acknowledgement: {
            note?: string | null;
        };
        Webhooks: {
            webhooks: components["schemas"]["Webhook"][];
            count: number;
        };
        Webhook: {
            id: string;
            url: string;
            enabled: boolean;
            created_by: string;
            created_at: number;
            last_delivery: {
                at: number;
                status: number | null;
                alert_id: string;
                error: string | null;
            } | null;
            deliveries: components["schemas"]["WebhookDelivery"][];
        };
        WebhookDelivery: {
            at: number;
            status: number | null;
            alert_id: string;
            error: string | null;
        };
        CreatedWebhook: {
            id: string;
            url: string;
            enabled: boolean;
            created_by: string;
            created_at: number;
            last_delivery: {
                at: number;
                status: number | null;
                alert_id: string;
                error: string | null;
            } | null;
            deliveries: components["schemas"]["WebhookDelivery"][];
            secret: string;
        };
        NewWebhook: {
            /** Format: uri */
            url: string;
        };
        WebhookTest: {
            at: number;
            status: number | null;
            error: string | null;
        };
        NewWebhookDelivery: {
            alert_id: string;
        };
        LogTail: {
            lines: string[];
            count: number;
            file: string;
        };
        Health: {
            /** @enum {string} */
            status: "ok";
        };
        Status: {
            instance: string;
            node: string;
            caller: {
                /** @enum {string} */
                kind: "session" | "api_key" | "master";
                user: {
                    id: string;
                    name: string;
                    email: string;
                    /** @enum {string} */
                    role: "admin" | "developer" | "member";
                    email_verified: boolean;
                    created_at: number;
                } | null;
                team: {
                    id: string;
                } | null;
                /** @enum {string} */
                role: "admin" | "developer" | "member";
                operator: boolean;
                verified: boolean;
                key: {
                    id: string;
                    projects: string[] | null;
                    permissions: ("chat" | "predict" | "read" | "write")[] | null;
                    requests_per_minute: number | null;
                    tokens_per_minute: number | null;
                    max_concurrent: number | null;
                } | null;
            };
            permissions: {
                own_account: boolean;
                mint_keys: boolean;
                read_team: boolean;
                manage_team: boolean;
                read_workspace: boolean;
                edit_workspace: boolean;
                create_project: boolean;
                delete_project: boolean;
                own_conversations: boolean;
                delete_calls: boolean;
                chat: boolean;
                predict: boolean;
                use_budgets: boolean;
                change_budgets: boolean;
                read_status: boolean;
                read_metrics: boolean;
                read_jobs: boolean;
                run_jobs: boolean;
                run_evaluations: boolean;
                cancel_jobs: boolean;
                read_monitoring: boolean;
                read_audit: boolean;
                manage_monitoring: boolean;
            };
            needs_verification: string[];
            /** @enum {string} */
            mail: "smtp" | "outbox";
            limits: {
                requests: {
                    limit: number;
                    remaining: number;
                    window_seconds: number;
                    reset_seconds: number;
                };
                auth: {
                    limit: number;
                    remaining: number;
                    window_seconds: number;
                    reset_seconds: number;
                };
                key: {
                    limit: number;
                    remaining: number;
                    window_seconds: number;
                    reset_seconds: number;
                } | null;
            };
            storage: {
                projects: {
                    used: number;
                    limit: number;
                } | null;
                workspace_bytes: {
                    used: number;
                    limit: number;
                } | null;
                conversation_bytes: {
                    used: number;
                    limit: number;
                } | null;
                response_bytes: {
                    used: number;
                    limit: number;
                } | null;
                external_jobs: {
                    used: number;
                    limit: number;
                };
                upload_bytes: {
                    used: number;
                    limit: number;
                } | null;
            };
            instances: components["schemas"]["LivingInstance"][];
            runtimes: {
                /** @enum {string} */
                state: "not_connected" | "stopped" | "loading" | "ready" | "unavailable";
                model_id: string | null;
                fallbacks: string[];
                split: components["schemas"]["WeightedModel"][] | null;
                targets: components["schemas"]["RuntimeTarget"][];
                reason: string | null;
                /** @enum {string|null} */
                task: "chat" | "embedding" | null;
                project_id: string;
                project_name: string;
            }[];
        };
        LivingInstance: {
            name: string;
            version: string;
            since: number;
            answering: boolean;
            /** @enum {string} */
            state: "starting" | "ready" | "draining";
            runtimes: {
                project_id: string;
                model_id: string;
                /** @enum {string} */
                state: "stopped" | "loading" | "ready" | "unavailable";
                waiting: number;
            }[];
            deployments: {
                deployment_id: string;
                /** @enum {string} */
                status: "running" | "starting" | "unhealthy" | "stopped" | "crash_looping";
            }[];
            waiting_calls: number;
            memory_bytes: number;
        };
        Audit: {
            entries: components["schemas"]["AuditEntry"][];
            count: number;
            next_cursor: string | null;
        };
        AuditEntry: {
            id: string;
            created_at: number;
            actor: {
                /** @enum {string} */
                kind: "account" | "master_key" | "command_line";
                id: string | null;
                name: string | null;
                credential_id: string | null;
            };
            /** @enum {string} */
            action: "account.registered" | "account.email_verified" | "account.changed" | "account.role_changed" | "account.password_changed" | "account.password_reset" | "account.sessions_revoked" | "account.removed" | "api_key.minted" | "api_key.changed" | "api_key.revoked" | "session.revoked" | "invite.created" | "invite.revoked" | "project.deleted" | "dataset.frozen" | "dataset.deleted" | "model.registered" | "model.deleted" | "model_alias.moved" | "model_alias.deleted" | "call.deleted" | "runtime.connected" | "runtime.started" | "runtime.stopped" | "runtime.disconnected" | "deployment.created" | "deployment.deleted" | "budget.created" | "budget.changed" | "budget.deleted" | "alert_rule.created" | "alert_rule.changed" | "alert_rule.deleted" | "alert.acknowledged" | "webhook.created" | "webhook.deleted" | "webhook.alert_sent_again" | "database.migrated" | "database.backed_up" | "database.restored";
            object: {
                kind: string;
                id: string;
                name: string | null;
            };
            team_id: string | null;
            request_id: string | null;
            details: {
                [key: string]: string | number | boolean | null;
            };
        };
        Deployments: {
            deployments: components["schemas"]["Deployment"][];
            count: number;
        };
        Deployment: {
            id: string;
            name: string;
            /** @enum {string} */
            kind: "local" | "remote";
            model_path: string | null;
            port: number;
            url: string;
            /** @enum {string} */
            status: "running" | "starting" | "unhealthy" | "stopped" | "crash_looping";
            created_at: number;
            reason: string | null;
            restarts: number;
            instance: string;
            max_batch: number | null;
            max_delay_ms: number | null;
            endpoint: string | null;
            model_name: string | null;
            model_version: string | null;
            key_setting: string | null;
            prices: {
                per_call: number | null;
                per_second: number | null;
            } | null;
        };
        NewDeployment: {
            name: string;
            model_path?: string | null;
            endpoint?: string | null;
            model_name?: string | null;
            model_version?: string | null;
            key_setting?: string | null;
            max_batch?: number | null;
            max_delay_ms?: number | null;
            prices?: components["schemas"]["NewDeploymentPrices"];
        } & ((({
            model_path: string;
            endpoint?: null;
            model_name?: null;
            model_version?: null;
            key_setting?: null;
        } & {
            [key: string]: unknown;
        }) | ({
            max_delay_ms?: null;
        } & {
            [key: string]: unknown;
        }) | ({
            max_batch: number;
        } & {
            [key: string]: unknown;
        })) | ({
            endpoint: string;
            model_name: string;
            model_path?: null;
            max_batch?: null;
            max_delay_ms?: null;
        } & {
            [key: string]: unknown;
        }));
        NewDeploymentPrices: {
            per_call?: number | null;
            per_second?: number | null;
        } | null;
        DeploymentLogs: {
            lines: string[];
            count: number;
        };
        PredictionAnswer: {
            outputs: {
                [key: string]: {
                    data?: unknown;
                    shape: number[];
                    datatype: string;
                };
            } | {
                data?: unknown;
                shape: number[];
                datatype: string;
                name: string;
            }[];
        } & {
            [key: string]: unknown;
        };
        Prediction: {
            inputs: {
                [key: string]: unknown[] | {
                    data?: unknown;
                    shape?: number[];
                    datatype?: string;
                };
            } | {
                name: string;
                data: unknown;
                shape: number[];
                datatype: string;
            }[];
        };
        ServerMetadata: {
            name: string;
            version: string;
            extensions: string[];
        } & {
            [key: string]: unknown;
        };
        ServerLive: {
            live: boolean;
        };
        ServerReady: {
            ready: boolean;
        };
        ModelMetadata: {
            name: string;
            versions?: string[];
            platform: string;
            inputs: ({
                name: string;
                datatype: string;
                shape: number[];
            } & {
                [key: string]: unknown;
            })[];
            outputs: ({
                name: string;
                datatype: string;
                shape: number[];
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        ModelReady: {
            name: string;
            ready: boolean;
        };
        InferenceAnswer: {
            model_name: string;
            outputs: {
                data?: unknown;
                shape: number[];
                datatype: string;
                name: string;
            }[];
        } & {
            [key: string]: unknown;
        };
        InferenceRequest: {
            id?: string;
            inputs: {
                name: string;
                data: unknown;
                shape: number[];
                datatype: string;
            }[];
        };
        ModelFiles: {
            model_files: components["schemas"]["ModelFile"][];
            count: number;
            next_cursor: string | null;
            truncated: boolean;
        };
        ModelFile: {
            path: string;
            size: number;
            /** @enum {string} */
            kind: "onnx" | "chat_model" | "embedding_model" | "file";
            modified_at: number;
            writable: boolean;
        };
        UploadedModelFile: {
            path: string;
            size: number;
            /** @enum {string} */
            kind: "onnx" | "chat_model" | "embedding_model" | "file";
            modified_at: number;
            writable: boolean;
            sha256: string;
        };
    };
    responses: {
        Refused400MalformedJsonBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "malformed_json" | "bad_request";
                };
            };
        };
        Refused403RegistrationClosedInviteEmailMismatch: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "registration_closed" | "invite_email_mismatch";
                };
            };
        };
        Refused404InviteNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invite_not_found";
                };
            };
        };
        Refused408RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "request_timeout";
                };
            };
        };
        Refused409EmailTaken: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "email_taken";
                };
            };
        };
        Refused410InviteRedeemedInviteRevokedInviteExpired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invite_redeemed" | "invite_revoked" | "invite_expired";
                };
            };
        };
        Refused413PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "payload_too_large";
                };
            };
        };
        Refused415UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "unsupported_media_type";
                };
            };
        };
        Refused421MisdirectedRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "misdirected_request";
                };
            };
        };
        Refused422InvalidRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request";
                };
            };
        };
        Refused429RateLimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "rate_limited";
                };
            };
        };
        Refused431HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "headers_too_large";
                };
            };
        };
        Refused500InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "internal_error";
                };
            };
        };
        Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "busy" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused400BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "bad_request";
                };
            };
        };
        Refused503StorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused404TokenNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "token_not_found";
                };
            };
        };
        Refused410TokenUsedTokenExpired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "token_used" | "token_expired";
                };
            };
        };
        Refused401UnauthenticatedSessionRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "unauthenticated" | "session_required";
                };
            };
        };
        Refused401InvalidCredentials: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_credentials";
                };
            };
        };
        Refused403SiteLoginDisabledRegistrationClosed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "site_login_disabled" | "registration_closed";
                };
            };
        };
        Refused403WrongPassword: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "wrong_password";
                };
            };
        };
        Refused403Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "forbidden";
                };
            };
        };
        Refused404NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "not_found";
                };
            };
        };
        Refused409LastAdmin: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "last_admin";
                };
            };
        };
        Refused403EmailUnverified: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "email_unverified";
                };
            };
        };
        Refused409StaleVersion: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "stale_version";
                };
            };
        };
        Refused403KeyRestricted: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "key_restricted";
                };
            };
        };
        Refused403KeyRestrictedForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "key_restricted" | "forbidden";
                };
            };
        };
        Refused422InvalidRequestQuotaExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "quota_exceeded";
                };
            };
        };
        Refused409StaleVersionDatasetFrozen: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "stale_version" | "dataset_frozen";
                };
            };
        };
        Refused422InvalidRequestDatasetInvalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "dataset_invalid";
                };
            };
        };
        Refused409RequestIdConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "request_id_conflict";
                };
            };
        };
        Refused409StaleVersionModelRegistered: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "stale_version" | "model_registered";
                };
            };
        };
        Refused503BusyRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "busy" | "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused409RuntimeNotConnected: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "runtime_not_connected";
                };
            };
        };
        Refused503RuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused422InvalidRequestQuotaExceededStreamingUnsupportedModelMismatchContextLengthExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "quota_exceeded" | "streaming_unsupported" | "model_mismatch" | "context_length_exceeded";
                };
            };
        };
        Refused429RateLimitedModelBusyBudgetExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "model_busy" | "budget_exceeded";
                };
            };
        };
        Refused502RuntimeInvalidResponse: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "runtime_invalid_response";
                };
            };
        };
        Refused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "busy" | "runtime_not_connected" | "runtime_loading" | "runtime_stopped" | "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused504InferenceTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "inference_timeout";
                };
            };
        };
        OpenaiRefused400BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "bad_request";
                    };
                };
            };
        };
        OpenaiRefused401UnauthenticatedSessionRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "unauthenticated" | "session_required";
                    };
                };
            };
        };
        OpenaiRefused403KeyRestricted: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "key_restricted";
                    };
                };
            };
        };
        OpenaiRefused408RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "request_timeout";
                    };
                };
            };
        };
        OpenaiRefused421MisdirectedRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "misdirected_request";
                    };
                };
            };
        };
        OpenaiRefused429RateLimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "rate_limited";
                    };
                };
            };
        };
        OpenaiRefused431HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "headers_too_large";
                    };
                };
            };
        };
        OpenaiRefused500InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "internal_error";
                    };
                };
            };
        };
        OpenaiRefused503StorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "storage_unavailable" | "instance_outdated" | "shutting_down";
                    };
                };
            };
        };
        OpenaiRefused404NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "not_found";
                    };
                };
            };
        };
        OpenaiRefused400InvalidRequestMalformedJsonQuotaExceededUnknownParameterUnsupportedParameterContextLengthExceededBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "malformed_json" | "quota_exceeded" | "unknown_parameter" | "unsupported_parameter" | "context_length_exceeded" | "bad_request";
                    };
                };
            };
        };
        OpenaiRefused413PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "payload_too_large";
                    };
                };
            };
        };
        OpenaiRefused415UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "unsupported_media_type";
                    };
                };
            };
        };
        OpenaiRefused429RateLimitedModelBusyBudgetExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "rate_limited" | "model_busy" | "budget_exceeded";
                    };
                };
            };
        };
        OpenaiRefused502RuntimeInvalidResponse: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "runtime_invalid_response";
                    };
                };
            };
        };
        OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "busy" | "runtime_not_connected" | "runtime_loading" | "runtime_stopped" | "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                    };
                };
            };
        };
        OpenaiRefused504InferenceTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "inference_timeout";
                    };
                };
            };
        };
        OpenaiRefused400InvalidRequestMalformedJsonUnknownParameterUnsupportedParameterContextLengthExceededBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "malformed_json" | "unknown_parameter" | "unsupported_parameter" | "context_length_exceeded" | "bad_request";
                    };
                };
            };
        };
        OpenaiRefused400InvalidRequestMalformedJsonQuotaExceededPreviousResponseNotFoundUnknownParameterUnsupportedParameterContextLengthExceededBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "malformed_json" | "quota_exceeded" | "previous_response_not_found" | "unknown_parameter" | "unsupported_parameter" | "context_length_exceeded" | "bad_request";
                    };
                };
            };
        };
        OpenaiRefused400InvalidRequestMalformedJsonPreviousResponseNotFoundUnknownParameterUnsupportedParameterContextLengthExceededBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "malformed_json" | "previous_response_not_found" | "unknown_parameter" | "unsupported_parameter" | "context_length_exceeded" | "bad_request";
                    };
                };
            };
        };
        OpenaiRefused400InvalidRequestBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "invalid_request" | "bad_request";
                    };
                };
            };
        };
        OpenaiRefused503BusyStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    error: components["schemas"]["OpenAiProblem"] & {
                        /** @enum {unknown} */
                        code?: "busy" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                    };
                };
            };
        };
        AnthropicRefused400InvalidRequestMalformedJsonThreadUnsupportedRequestUnknownParameterUnsupportedParameterContextLengthExceededBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "invalid_request" | "malformed_json" | "thread_unsupported_request" | "unknown_parameter" | "unsupported_parameter" | "context_length_exceeded" | "bad_request";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused401UnauthenticatedSessionRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "unauthenticated" | "session_required";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused403KeyRestricted: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "key_restricted";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused404NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "not_found";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused408RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "request_timeout";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused413PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "payload_too_large";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused415UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "unsupported_media_type";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused421MisdirectedRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "misdirected_request";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused429RateLimitedModelBusyBudgetExceeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "rate_limited" | "model_busy" | "budget_exceeded";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused431HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "headers_too_large";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused500InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "internal_error";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused502RuntimeInvalidResponse: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "runtime_invalid_response";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "busy" | "runtime_not_connected" | "runtime_loading" | "runtime_stopped" | "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused504InferenceTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "inference_timeout";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        AnthropicRefused429RateLimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @constant */
                    type: "error";
                    error: components["schemas"]["AnthropicProblem"] & {
                        details?: {
                            /** @enum {unknown} */
                            error_code?: "rate_limited";
                            unsupported?: string[];
                        };
                    };
                    request_id: string;
                };
            };
        };
        Refused403KeyRestrictedForbiddenEmailUnverified: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "key_restricted" | "forbidden" | "email_unverified";
                };
            };
        };
        Refused429RateLimitedModelBusy: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "model_busy";
                };
            };
        };
        Refused503BusyRuntimeNotConnectedRuntimeStoppedStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "busy" | "runtime_not_connected" | "runtime_stopped" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused401Unauthenticated: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "unauthenticated";
                };
            };
        };
        Refused409JobFinished: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "job_finished";
                };
            };
        };
        Refused403KeyRestrictedOperatorOnly: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "key_restricted" | "operator_only";
                };
            };
        };
        Refused403KeyRestrictedOperatorOnlyForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "key_restricted" | "operator_only" | "forbidden";
                };
            };
        };
        Refused400BadRequestUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "bad_request";
                };
            };
        };
        Refused401UnauthenticatedSessionRequiredUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "unauthenticated" | "session_required";
                };
            };
        };
        Refused408RequestTimeoutUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "request_timeout";
                };
            };
        };
        Refused421MisdirectedRequestUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "misdirected_request";
                };
            };
        };
        Refused429RateLimitedUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "rate_limited";
                };
            };
        };
        Refused431HeadersTooLargeUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "headers_too_large";
                };
            };
        };
        Refused500InternalErrorUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "internal_error";
                };
            };
        };
        Refused503StorageUnavailableInstanceOutdatedShuttingDownUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
        Refused503StorageUnavailableInstanceOutdatedRuntimeLoadingShuttingDownUnlimited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "storage_unavailable" | "instance_outdated" | "runtime_loading" | "shutting_down";
                };
            };
        };
        Refused422InvalidRequestModelFileInvalidEndpointInvalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "invalid_request" | "model_file_invalid" | "endpoint_invalid";
                };
            };
        };
        Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {unknown} */
                    code?: "runtime_loading" | "runtime_stopped" | "runtime_unavailable" | "storage_unavailable" | "instance_outdated" | "shutting_down";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    register: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Registration"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            403: components["responses"]["Refused403RegistrationClosedInviteEmailMismatch"];
            404: components["responses"]["Refused404InviteNotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409EmailTaken"];
            410: components["responses"]["Refused410InviteRedeemedInviteRevokedInviteExpired"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readAuthStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthStatus"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Token"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            404: components["responses"]["Refused404TokenNotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            410: components["responses"]["Refused410TokenUsedTokenExpired"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    resendVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401InvalidCredentials"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    siteLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SiteLogin"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401InvalidCredentials"];
            403: components["responses"]["Refused403SiteLoginDisabledRegistrationClosed"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409EmailTaken"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readOwnAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnUser"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    updateOwnAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnAccountUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnUser"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403WrongPassword"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    forgotPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordForgotten"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            404: components["responses"]["Refused404TokenNotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            410: components["responses"]["Refused410TokenUsedTokenExpired"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Roster"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    changeRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403Forbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409LastAdmin"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    removeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403Forbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409LastAdmin"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listInvites: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invites"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createInvite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InviteCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invite"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403Forbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    revokeInvite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invite_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403Forbidden"];
            404: components["responses"]["Refused404InviteNotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            410: components["responses"]["Refused410InviteRedeemedInviteRevokedInviteExpired"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    lookUpInvite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InviteLookup"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            404: components["responses"]["Refused404InviteNotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            410: components["responses"]["Refused410InviteRedeemedInviteRevokedInviteExpired"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeys"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    mintKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403EmailUnverified"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    changeKey: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403EmailUnverified"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sessions"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sessions"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listProjectStarters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectStarters"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listProjects: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectList"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProjectCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    reviewProject: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectReviewRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReview"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listProjectVersions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: number;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectVersionList"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readProjectVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectVersion"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listDatasets: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                q?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Datasets"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    importDataset: {
        parameters: {
            query?: {
                map?: string;
                name?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DatasetImport"];
                "text/csv": string;
                "application/x-ndjson": string;
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readDataset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    updateDataset: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DatasetUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteDataset: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    freezeDataset: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetFreeze"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestDatasetInvalid"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    forkDataset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetFork"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listDatasetVersions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: number;
            };
            header?: never;
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersions"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readDatasetVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                dataset_id: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersion"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    compareDatasets: {
        parameters: {
            query: {
                with: string;
                version?: number;
                limit?: number;
                cursor?: string;
            };
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetComparison"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listDatasetRecords: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                version?: number;
                q?: string;
                group?: string;
                finding?: "duplicate_id" | "empty_input" | "empty_expected";
            };
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetRecords"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    appendDatasetRecords: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DatasetAppendix"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetAppended"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteDatasetRecord: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
                record: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DatasetRecordRemoval"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedDatasetRecord"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    updateDatasetRecord: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                dataset_id: string;
                record: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DatasetRecordUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedDatasetRecord"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionDatasetFrozen"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    exportDataset: {
        parameters: {
            query?: {
                format?: "jsonl" | "csv";
                version?: number;
            };
            header?: never;
            path: {
                project_id: string;
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                q?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelCreation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409RequestIdConflict"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    updateModel: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionModelRegistered"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionModelRegistered"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    registerModel: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelRegistration"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersionModelRegistered"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    forkModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ModelFork"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409RequestIdConflict"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listModelVersions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: number;
            };
            header?: never;
            path: {
                project_id: string;
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelVersions"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readModelVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                model_id: string;
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelVersion"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listModelAliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAliases"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readModelAlias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAlias"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    setModelAlias: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                alias: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelAliasTarget"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelAlias"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteModelAlias: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                project_id: string;
                alias: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409StaleVersion"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    search: {
        parameters: {
            query: {
                q: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundObjects"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readRuntime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceRuntime"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    connectRuntime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RuntimeConnection"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceRuntime"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    disconnectRuntime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuntimeDisconnected"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    startRuntime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceRuntime"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409RuntimeNotConnected"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503RuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    stopRuntime: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceRuntime"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409RuntimeNotConnected"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createChatCompletion: {
        parameters: {
            query?: never;
            header?: {
                "X-Conversation-Id"?: string;
            };
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatCompletion"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceededStreamingUnsupportedModelMismatchContextLengthExceeded"];
            429: components["responses"]["Refused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    listConversations: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversations"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readConversation: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: number;
            };
            header?: never;
            path: {
                project_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationWithMessages"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listOpenAiModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAiModels"];
                };
            };
            400: components["responses"]["OpenaiRefused400BadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readOpenAiModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAiModel"];
                };
            };
            400: components["responses"]["OpenaiRefused400BadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createOpenAiChatCompletion: {
        parameters: {
            query?: never;
            header?: {
                "X-Conversation-Id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAiChatRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAiChatCompletion"];
                    "text/event-stream": components["schemas"]["ChatCompletionChunk"] | components["schemas"]["OpenAiError"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestMalformedJsonQuotaExceededUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            413: components["responses"]["OpenaiRefused413PayloadTooLarge"];
            415: components["responses"]["OpenaiRefused415UnsupportedMediaType"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            502: components["responses"]["OpenaiRefused502RuntimeInvalidResponse"];
            503: components["responses"]["OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["OpenaiRefused504InferenceTimeout"];
        };
    };
    createOpenAiCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAiCompletionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAiCompletion"];
                    "text/event-stream": components["schemas"]["OpenAiCompletion"] | components["schemas"]["OpenAiError"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestMalformedJsonUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            413: components["responses"]["OpenaiRefused413PayloadTooLarge"];
            415: components["responses"]["OpenaiRefused415UnsupportedMediaType"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            502: components["responses"]["OpenaiRefused502RuntimeInvalidResponse"];
            503: components["responses"]["OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["OpenaiRefused504InferenceTimeout"];
        };
    };
    createResponse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponsesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": components["schemas"]["ResponseEvent"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestMalformedJsonQuotaExceededPreviousResponseNotFoundUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            413: components["responses"]["OpenaiRefused413PayloadTooLarge"];
            415: components["responses"]["OpenaiRefused415UnsupportedMediaType"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            502: components["responses"]["OpenaiRefused502RuntimeInvalidResponse"];
            503: components["responses"]["OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["OpenaiRefused504InferenceTimeout"];
        };
    };
    countInputTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponsesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseInputTokens"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestMalformedJsonPreviousResponseNotFoundUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            413: components["responses"]["OpenaiRefused413PayloadTooLarge"];
            415: components["responses"]["OpenaiRefused415UnsupportedMediaType"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readResponse: {
        parameters: {
            query?: {
                stream?: "true" | "false";
                starting_after?: number;
            };
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                    "text/event-stream": components["schemas"]["ResponseEvent"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["OpenaiRefused504InferenceTimeout"];
        };
    };
    deleteResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseDeleted"];
                };
            };
            400: components["responses"]["OpenaiRefused400BadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    cancelResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Response"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listInputItems: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
            };
            header?: never;
            path: {
                response_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseItems"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimited"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            503: components["responses"]["OpenaiRefused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createOpenAiEmbeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenAiEmbeddingsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenAiEmbeddings"];
                };
            };
            400: components["responses"]["OpenaiRefused400InvalidRequestMalformedJsonUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["OpenaiRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["OpenaiRefused403KeyRestricted"];
            404: components["responses"]["OpenaiRefused404NotFound"];
            408: components["responses"]["OpenaiRefused408RequestTimeout"];
            413: components["responses"]["OpenaiRefused413PayloadTooLarge"];
            415: components["responses"]["OpenaiRefused415UnsupportedMediaType"];
            421: components["responses"]["OpenaiRefused421MisdirectedRequest"];
            429: components["responses"]["OpenaiRefused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["OpenaiRefused431HeadersTooLarge"];
            500: components["responses"]["OpenaiRefused500InternalError"];
            502: components["responses"]["OpenaiRefused502RuntimeInvalidResponse"];
            503: components["responses"]["OpenaiRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["OpenaiRefused504InferenceTimeout"];
        };
    };
    createAnthropicMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnthropicMessagesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicMessage"];
                    "text/event-stream": components["schemas"]["AnthropicMessageEvent"];
                };
            };
            400: components["responses"]["AnthropicRefused400InvalidRequestMalformedJsonThreadUnsupportedRequestUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["AnthropicRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["AnthropicRefused403KeyRestricted"];
            404: components["responses"]["AnthropicRefused404NotFound"];
            408: components["responses"]["AnthropicRefused408RequestTimeout"];
            413: components["responses"]["AnthropicRefused413PayloadTooLarge"];
            415: components["responses"]["AnthropicRefused415UnsupportedMediaType"];
            421: components["responses"]["AnthropicRefused421MisdirectedRequest"];
            429: components["responses"]["AnthropicRefused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["AnthropicRefused431HeadersTooLarge"];
            500: components["responses"]["AnthropicRefused500InternalError"];
            502: components["responses"]["AnthropicRefused502RuntimeInvalidResponse"];
            503: components["responses"]["AnthropicRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["AnthropicRefused504InferenceTimeout"];
        };
    };
    countAnthropicTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnthropicCountTokensRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnthropicTokenCount"];
                };
            };
            400: components["responses"]["AnthropicRefused400InvalidRequestMalformedJsonThreadUnsupportedRequestUnknownParameterUnsupportedParameterContextLengthExceededBadRequest"];
            401: components["responses"]["AnthropicRefused401UnauthenticatedSessionRequired"];
            403: components["responses"]["AnthropicRefused403KeyRestricted"];
            404: components["responses"]["AnthropicRefused404NotFound"];
            408: components["responses"]["AnthropicRefused408RequestTimeout"];
            413: components["responses"]["AnthropicRefused413PayloadTooLarge"];
            415: components["responses"]["AnthropicRefused415UnsupportedMediaType"];
            421: components["responses"]["AnthropicRefused421MisdirectedRequest"];
            429: components["responses"]["AnthropicRefused429RateLimited"];
            431: components["responses"]["AnthropicRefused431HeadersTooLarge"];
            500: components["responses"]["AnthropicRefused500InternalError"];
            503: components["responses"]["AnthropicRefused503BusyRuntimeNotConnectedRuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                since?: number;
                until?: number;
                model_id?: string;
                key_id?: string;
                account_id?: string;
                status?: "succeeded" | "failed" | "cancelled";
                score?: number;
                label?: string;
                q?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Calls"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    exportCalls: {
        parameters: {
            query?: {
                format?: "jsonl" | "csv";
                since?: number;
                until?: number;
                model_id?: string;
                key_id?: string;
                account_id?: string;
                status?: "succeeded" | "failed" | "cancelled";
                score?: number;
                label?: string;
                q?: string;
            };
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                call_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Call"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
                call_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    giveFeedback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                kind?: "chat" | "embedding" | "prediction" | "external" | "evaluation";
                project_id?: string;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Jobs"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createJob: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewExternalJob"] | components["schemas"]["NewEvaluation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbiddenEmailUnverified"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimitedModelBusy"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyRuntimeNotConnectedRuntimeStoppedStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    changeJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedForbiddenEmailUnverified"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409JobFinished"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            409: components["responses"]["Refused409JobFinished"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listEvaluationResults: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: number;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationResults"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    exportEvaluationResults: {
        parameters: {
            query?: {
                format?: "jsonl" | "csv";
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    compareEvaluations: {
        parameters: {
            query: {
                with: string;
            };
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationComparison"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readUsage: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                bucket?: "minute" | "hour" | "day";
                group_by?: "project" | "model" | "key" | "account";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummary"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budgets"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createBudget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudget"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestricted"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    changeBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                budget_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BudgetChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequired"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listAlertRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRules"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAlertRule"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    previewAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRulePreview"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleOutcome"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    changeAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                status?: "firing" | "acked";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alerts"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    acknowledgeAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Acknowledgement"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhooks"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    sendAlertAgain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhookDelivery"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readLog: {
        parameters: {
            query?: {
                tail?: number;
                job_id?: string;
                request_id?: string;
                level?: "error" | "warn" | "info" | "debug";
                q?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogTail"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Refused400BadRequestUnlimited"];
            401: components["responses"]["Refused401UnauthenticatedSessionRequiredUnlimited"];
            408: components["responses"]["Refused408RequestTimeoutUnlimited"];
            421: components["responses"]["Refused421MisdirectedRequestUnlimited"];
            429: components["responses"]["Refused429RateLimitedUnlimited"];
            431: components["responses"]["Refused431HeadersTooLargeUnlimited"];
            500: components["responses"]["Refused500InternalErrorUnlimited"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDownUnlimited"];
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Refused400BadRequestUnlimited"];
            408: components["responses"]["Refused408RequestTimeoutUnlimited"];
            421: components["responses"]["Refused421MisdirectedRequestUnlimited"];
            431: components["responses"]["Refused431HeadersTooLargeUnlimited"];
            500: components["responses"]["Refused500InternalErrorUnlimited"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDownUnlimited"];
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Refused400BadRequestUnlimited"];
            408: components["responses"]["Refused408RequestTimeoutUnlimited"];
            421: components["responses"]["Refused421MisdirectedRequestUnlimited"];
            431: components["responses"]["Refused431HeadersTooLargeUnlimited"];
            500: components["responses"]["Refused500InternalErrorUnlimited"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedRuntimeLoadingShuttingDownUnlimited"];
        };
    };
    readStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                actor?: string;
                action?: "account.registered" | "account.email_verified" | "account.changed" | "account.role_changed" | "account.password_changed" | "account.password_reset" | "account.sessions_revoked" | "account.removed" | "api_key.minted" | "api_key.changed" | "api_key.revoked" | "session.revoked" | "invite.created" | "invite.revoked" | "project.deleted" | "dataset.frozen" | "dataset.deleted" | "model.registered" | "model.deleted" | "model_alias.moved" | "model_alias.deleted" | "call.deleted" | "runtime.connected" | "runtime.started" | "runtime.stopped" | "runtime.disconnected" | "deployment.created" | "deployment.deleted" | "budget.created" | "budget.changed" | "budget.deleted" | "alert_rule.created" | "alert_rule.changed" | "alert_rule.deleted" | "alert.acknowledged" | "webhook.created" | "webhook.deleted" | "webhook.alert_sent_again" | "database.migrated" | "database.backed_up" | "database.restored" | "account" | "api_key" | "session" | "invite" | "project" | "dataset" | "model" | "model_alias" | "call" | "runtime" | "deployment" | "budget" | "alert_rule" | "alert" | "webhook" | "database";
                object?: string;
                from?: string;
                to?: string;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Audit"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    listDeployments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployments"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    createDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDeployment"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestModelFileInvalidEndpointInvalid"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    readDeploymentLogs: {
        parameters: {
            query?: {
                tail?: number;
            };
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentLogs"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    predict: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Prediction"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PredictionAnswer"];
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readServerMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerMetadata"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readServerLive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerLive"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readServerReady: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerReady"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readModelMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                model_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelMetadata"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readModelVersionMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                model_name: string;
                model_version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelMetadata"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readModelReady: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                model_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelReady"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    readModelVersionReady: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                model_name: string;
                model_version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelReady"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    infer: {
        parameters: {
            query?: never;
            header?: {
                "Inference-Header-Content-Length"?: string;
            };
            path: {
                deployment_id: string;
                model_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InferenceRequest"];
                "application/octet-stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceAnswer"];
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    inferWithVersion: {
        parameters: {
            query?: never;
            header?: {
                "Inference-Header-Content-Length"?: string;
            };
            path: {
                deployment_id: string;
                model_name: string;
                model_version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InferenceRequest"];
                "application/octet-stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceAnswer"];
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Refused400MalformedJsonBadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimitedModelBusyBudgetExceeded"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            502: components["responses"]["Refused502RuntimeInvalidResponse"];
            503: components["responses"]["Refused503RuntimeLoadingRuntimeStoppedRuntimeUnavailableStorageUnavailableInstanceOutdatedShuttingDown"];
            504: components["responses"]["Refused504InferenceTimeout"];
        };
    };
    listModelFiles: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelFiles"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnly"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    uploadModelFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedModelFile"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedModelFile"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            408: components["responses"]["Refused408RequestTimeout"];
            413: components["responses"]["Refused413PayloadTooLarge"];
            415: components["responses"]["Refused415UnsupportedMediaType"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequestQuotaExceeded"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503BusyStorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    deleteModelFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            400: components["responses"]["Refused400BadRequest"];
            401: components["responses"]["Refused401Unauthenticated"];
            403: components["responses"]["Refused403KeyRestrictedOperatorOnlyForbidden"];
            404: components["responses"]["Refused404NotFound"];
            408: components["responses"]["Refused408RequestTimeout"];
            421: components["responses"]["Refused421MisdirectedRequest"];
            422: components["responses"]["Refused422InvalidRequest"];
            429: components["responses"]["Refused429RateLimited"];
            431: components["responses"]["Refused431HeadersTooLarge"];
            500: components["responses"]["Refused500InternalError"];
            503: components["responses"]["Refused503StorageUnavailableInstanceOutdatedShuttingDown"];
        };
    };
    alertFired: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": string;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertFired"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
