-- CreateTable
CREATE TABLE "schedule_run" (
    "cluster" TEXT NOT NULL,
    "schedule_uid" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "child_uid" UUID NOT NULL,
    "child_name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "schedule_run_pkey" PRIMARY KEY ("cluster","schedule_uid","due_at")
);
